#pragma once

#include "app/core/run/labels.h"
#include "app/core/train/training_board.h"
#include "engine/load/model.h"
#include "engine/load/model_folder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// What a person chose in the Train tab, as plain values.
namespace decoderscope::core::train {

// The tab's id, under which a session keeps the choices.
inline constexpr std::string_view kTrainTab = "train";

// One of the runs side by side: what tells it from the others.
struct RunChoice {
    NormPlacement placement = NormPlacement::pre;
    bool xavier = true;
    decoderscope::train::OptimiserKind optimiser = decoderscope::train::OptimiserKind::adam;
    double learning_rate = 1e-2;
    Index warmup = 0;
    double clip = 0.0;  // 0: none
    bool operator==(const RunChoice&) const = default;
};

inline constexpr std::string_view kOwnText = "text";  // the task that continues the learner's own text

// The runs, and what they share.
struct TrainingPlan {
    std::string task = "reversal";  // or kOwnText
    std::string text;               // the learner's, a line an example
    Index layers = 2, d_model = 32, rows = 32, steps = 300;
    std::uint64_t seed = 0;
    std::vector<RunChoice> runs = {RunChoice{}};
    bool operator==(const TrainingPlan&) const = default;
};

// The tasks that can be chosen.
[[nodiscard]] std::vector<std::string> trainable_tasks();
// What a task asks for, in a few words.
[[nodiscard]] Phrase about_task(std::string_view task);

// The three runs that show what warm-up is for: a decoder of 6 layers, initialised by Xavier's rule, reverses words of
// 1 to 6 letters. Post-Norm without warm-up learns nothing; Pre-Norm without it and Post-Norm with it do. Chance is a
// loss of 3.06.
[[nodiscard]] TrainingPlan plan_of_warmup(std::uint64_t seed = 0);

// The plan as a session keeps it, a JSON object: only the choices, because training again gives the same bits.
[[nodiscard]] std::string saved_plan(const TrainingPlan& plan);
// Reads a plan back. Throws Error naming the key for anything that saved_plan() can't have made.
[[nodiscard]] TrainingPlan read_plan(const std::string& saved);

// Throws Error saying what doesn't fit: no text, a width that no number of heads divides.
[[nodiscard]] std::vector<Recipe> recipes_of(const TrainingPlan& plan);
// How a model would be trained from new weights: on the task whose vocabularies it has, with the choices that Train
// begins with. nullptr if it has no task's.
[[nodiscard]] std::shared_ptr<const Recipe> recipe_for(const load::Model& model, const Config& config);
[[nodiscard]] Phrase title_of(decoderscope::train::OptimiserKind kind);
// What distinguishes a run from those beside it or, if it is the only one, what it is: "Post-Norm, warm-up 150".
[[nodiscard]] Sentence title_of(const TrainingPlan& plan, std::size_t run);

// A training's model after some step, to be shown and saved: its example is a row of a batch that it never sees.
[[nodiscard]] std::shared_ptr<const load::Model> model_of(const Recipe& recipe, const Weights& weights, Index step);
[[nodiscard]] std::shared_ptr<const load::ModelFolder> folder_of(const Recipe& recipe, const load::Model& model);

}  // namespace decoderscope::core::train
