#include "app/core/train/step_models.h"

#include <map>
#include <utility>

namespace decoderscope::core::train {

std::function<std::shared_ptr<const load::Model>(Index step)> models_by_step(std::function<Course()> begin,
                                                                             std::shared_ptr<const load::Model> model) {
    struct Kept {
        std::map<Index, std::shared_ptr<const load::Model>> models;
        Course course;
        Weights weights;
        Index step = -1;  // that these weights are after
    };
    return [kept = std::make_shared<Kept>(), begin = std::move(begin), model = std::move(model)](Index step) {
        std::shared_ptr<const load::Model>& found = kept->models[step];
        if (found) return found;
        if (!kept->course || kept->step > step) {
            kept->course = begin();
            kept->step = -1;
        }
        for (; kept->step < step; ++kept->step) kept->weights = kept->course();
        load::Model trained = *model;
        trained.weights = kept->weights;
        found = std::make_shared<const load::Model>(std::move(trained));
        return found;
    };
}

std::function<std::shared_ptr<const load::Model>(Index step)> models_by_step(std::shared_ptr<const Recipe> recipe,
                                                                             std::shared_ptr<const load::Model> model) {
    const auto begin = [recipe = std::move(recipe)]() -> Course {
        return [recipe, trainer = first_trainer(*recipe), begun = false]() mutable {
            if (std::exchange(begun, true)) static_cast<void>(trainer.train(batch_of(*recipe, trainer.steps() + 1)));
            return trainer.weights();
        };
    };
    return models_by_step(begin, std::move(model));
}

}  // namespace decoderscope::core::train
