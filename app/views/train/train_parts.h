#pragma once

#include "app/views/shell/panels.h"
#include "app/views/train/train_tab.h"
#include "app/views/widgets/prose.h"

#include <cstddef>
#include <span>

// The parts of the Train tab, from top to bottom, one file each.
namespace decoderscope {

// Each run's colour and stroke, in charts and beside its choices.
[[nodiscard]] ImU32 color_of_run(std::size_t run);
[[nodiscard]] bool is_dashed(std::size_t run);

// What all runs share, and what tells them apart. Returns the height used.
[[nodiscard]] float draw_train_choices(const Ui& ui, TrainTabState& train, Area area);
// Begin, pause, go on; how far they are, and what is kept. Returns the height used.
[[nodiscard]] float draw_train_controls(const Ui& ui, TrainTabState& train, std::span<const SeenTraining> seen,
                                        Area area);
// Loss and gradients by step, gradients by layer at the step that is looked at.
void draw_train_charts(const Ui& ui, const Session& session, TrainTabState& train, std::span<const SeenTraining> seen,
                       Area area);
// The patterns of each run's model at that step; the model can be opened and saved.
void draw_train_patterns(const Ui& ui, const Session& session, ViewState& state, std::span<const SeenTraining> seen,
                         Area area, Commands& commands);

}  // namespace decoderscope
