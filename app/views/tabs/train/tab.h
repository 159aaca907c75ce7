#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/bounds.h"
#include "app/core/run/comparison.h"
#include "app/core/train/shown_training.h"
#include "app/core/train/training_plan.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views::train {

[[nodiscard]] Tab train_tab();

// A step of a run that another one is to be compared with.
struct MarkedModel {
    std::size_t run = 0;
    Index step = 0;
    std::shared_ptr<const core::ReferenceRun> pinned;  // its model on its example
};

// What the Train tab remembers from frame to frame; the choices and the trainings are the session's.
struct TrainTabState {
    std::array<char, core::bounds::kTrainingText.most + 1> text{};  // the learner's own, as ImGui edits it
    std::string attention;                                          // whose patterns are shown; empty: the last
    std::optional<std::string> followed;  // the attention of the cursor's step, as of the last frame
    std::string folder;                   // where models are written
    // Of each run, the model that is drawn, and its step: until the next is there, the one before.
    std::vector<core::LastAnswer<Index, core::train::TrainedModelRun>> drawn;
    std::optional<MarkedModel> marked;  // what is to be compared with the next model that is chosen
    bool three = false;                 // the choices are those of the three runs, which were begun in one click
};

// The parts of the Train tab, from top to bottom, one file each.

// Each run's colour and stroke, in charts and beside its choices.
[[nodiscard]] ImU32 color_of_run(std::size_t run);
[[nodiscard]] bool is_dashed(std::size_t run);

// Trains the three runs that show what warm-up is for. That changes what was chosen, which is said while it lasts.
void train_three_runs(TrainTabState& train, Commands& commands);
// Returns the height used.
[[nodiscard]] float say_three_runs(const Ui& ui, const core::Session& session, const TrainTabState& train, Area area);

// What all runs share, and what tells them apart. Returns the height used.
[[nodiscard]] float draw_train_choices(const Ui& ui, const core::Session& session, TrainTabState& train, Area area,
                                       Commands& commands);
// Begin, pause, go on; how far they are, and what is kept. Returns the height used.
[[nodiscard]] float draw_train_controls(const Ui& ui, const core::Session& session,
                                        std::span<const core::train::SeenTraining> seen, Area area, Commands& commands);

}  // namespace decoderscope::views::train
