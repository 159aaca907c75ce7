#include "app/core/train/step_models.h"

#include <map>
#include <utility>

namespace decoderscope::core::train {

namespace {

struct Kept {
    std::function<Course(const TrainingPoint&)> begin;
    std::shared_ptr<const load::Model> model;
    std::map<TrainingPoint, std::shared_ptr<const load::Model>> models;
    Course course;
    Weights weights;
    TrainingPoint at = {.step = -1};  // where these weights are from
};

Resumable<std::shared_ptr<const load::Model>> model_after(std::shared_ptr<Kept> kept, TrainingPoint point) {
    std::shared_ptr<const load::Model>& found = kept->models[point];
    if (found) co_return found;
    TrainingPoint here = point;
    here.step = kept->at.step;
    if (!kept->course || kept->at != here || here.step > point.step) {
        kept->course = kept->begin(point);
        kept->at = point;
        kept->at.step = -1;
    }
    for (; kept->at.step < point.step; ++kept->at.step) {
        co_yield kPause;
        kept->weights = kept->course();
    }
    load::Model trained = *kept->model;
    trained.weights = kept->weights;
    found = std::make_shared<const load::Model>(std::move(trained));
    co_return found;
}

}  // namespace

ModelsByStep models_by_step(std::function<Course(const TrainingPoint& of)> begin,
                            std::shared_ptr<const load::Model> model) {
    const auto kept = std::make_shared<Kept>(Kept{.begin = std::move(begin), .model = std::move(model)});
    return [kept](TrainingPoint point) { return model_after(kept, point); };
}

ModelsByStep models_by_step(std::shared_ptr<const Recipe> recipe, std::shared_ptr<const load::Model> model) {
    const auto begin = [recipe = std::move(recipe)](const TrainingPoint& of) -> Course {
        Recipe own = *recipe;
        own.seed = of.seed.value_or(recipe->seed);
        own.settings.learning_rate = of.learning_rate.value_or(own.settings.learning_rate);
        Recipe batches = own;
        batches.seed = of.batch_seed.value_or(own.seed);
        return [batches, trainer = first_trainer(own), begun = false]() mutable {
            if (std::exchange(begun, true)) static_cast<void>(trainer.train(batch_of(batches, trainer.steps() + 1)));
            return trainer.weights();
        };
    };
    return models_by_step(begin, std::move(model));
}

}  // namespace decoderscope::core::train
