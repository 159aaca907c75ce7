#include "app/core/train/step_models.h"

#include <map>
#include <utility>

namespace decoderscope::core::train {

namespace {

struct Kept {
    std::function<Course()> begin;
    std::shared_ptr<const load::Model> model;
    std::map<Index, std::shared_ptr<const load::Model>> models;
    Course course;
    Weights weights;
    Index step = -1;  // that these weights are after
};

Resumable<std::shared_ptr<const load::Model>> model_after(std::shared_ptr<Kept> kept, Index step) {
    std::shared_ptr<const load::Model>& found = kept->models[step];
    if (found) co_return found;
    if (!kept->course || kept->step > step) {
        kept->course = kept->begin();
        kept->step = -1;
    }
    for (; kept->step < step; ++kept->step) {
        co_yield kPause;
        kept->weights = kept->course();
    }
    load::Model trained = *kept->model;
    trained.weights = kept->weights;
    found = std::make_shared<const load::Model>(std::move(trained));
    co_return found;
}

}  // namespace

ModelsByStep models_by_step(std::function<Course()> begin, std::shared_ptr<const load::Model> model) {
    const auto kept = std::make_shared<Kept>(Kept{.begin = std::move(begin), .model = std::move(model)});
    return [kept](Index step) { return model_after(kept, step); };
}

ModelsByStep models_by_step(std::shared_ptr<const Recipe> recipe, std::shared_ptr<const load::Model> model) {
    const auto begin = [recipe = std::move(recipe)]() -> Course {
        return [recipe, trainer = first_trainer(*recipe), begun = false]() mutable {
            if (std::exchange(begun, true)) static_cast<void>(trainer.train(batch_of(*recipe, trainer.steps() + 1)));
            return trainer.weights();
        };
    };
    return models_by_step(begin, std::move(model));
}

}  // namespace decoderscope::core::train
