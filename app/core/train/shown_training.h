#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/chart.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/heatmap.h"
#include "app/core/run/scenario.h"
#include "app/core/train/training_board.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What the Train tab shows of a training, from the cache.
namespace decoderscope::core::train {

// By step of the training.
struct TrainingCurves {
    DepthCurve loss;
    DepthCurve growth;  // the gradient with respect to W2 in the last layer over that in the first
};
[[nodiscard]] Value<TrainingCurves> training_curves(Derived& derived, const SeenTraining& seen);

// The gradient with respect to W2 from the first layer to the last, in the step after `step` steps: what that model met
// next; of the last step that is known if there is none. No points before the first step.
[[nodiscard]] DepthCurve gradients_at(const SeenTraining& seen, Index step);
// The loss of that step; nothing before the first.
[[nodiscard]] std::optional<double> loss_at(const SeenTraining& seen, Index step);
// The step on its way to be shown, while the model is still that of another one: then what is shown of the model is out
// of date. `wanted` is what was asked for; nothing: the newest, whose models follow by themselves.
[[nodiscard]] std::optional<Index> step_under_way(const SeenTraining& seen, const std::optional<Index>& wanted);

// The loss of the last steps, which is less noisy than one.
[[nodiscard]] std::optional<double> late_loss(std::span<const TrainedStep> history);
// What a model that guesses one of the answers at random has: the logarithm of how many there are.
[[nodiscard]] double loss_of_chance(const Recipe& recipe);

// The model on its example, run in the background; empty until it is there.
struct TrainedModelRun {
    static constexpr std::size_t kKept = 8;
    Scenario scenario;
    std::shared_ptr<const Run> run;
};
[[nodiscard]] Value<TrainedModelRun> trained_model_run(Derived& derived,
                                                       const std::shared_ptr<const load::Model>& model);
// The attentions whose patterns can be shown: "blocks.0.attn", …
[[nodiscard]] std::vector<std::string> attentions_of(const Plan& plan);
// The pattern of one of them; nullptr if the plan has none of that name.
[[nodiscard]] Ref pattern_of(const Plan& plan, const std::string& attention);
struct TrainedPattern {
    static constexpr std::size_t kKept = 64;
    Heatmap heatmap;
};
[[nodiscard]] Value<TrainedPattern> trained_pattern(Derived& derived, const TrainedModelRun& run,
                                                    const std::string& attention, Index head);

// Where trained models are kept unless another folder is named: $XDG_DATA_HOME/decoderscope/trained, or
// ~/.local/share/…; empty if there is no home.
[[nodiscard]] std::string trained_models_folder();
// "reversal-post-norm-warm-up-150-step-300".
[[nodiscard]] std::string trained_model_name(const Recipe& recipe, Index step);

[[nodiscard]] Exhibit training_exhibit(std::span<const SeenTraining> seen);

}  // namespace decoderscope::core::train
