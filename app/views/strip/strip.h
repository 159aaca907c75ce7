#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <optional>

namespace decoderscope::views::strip {

// The pass as a line of pictures in the order of computation: the block of the current step in parts, every other one
// as one picture, the encoder above. What is computed is lit up to the current step; dragging along the line goes
// through the steps, a click goes to what it is on, the wheel moves by one. Folded, it is the line alone.
[[nodiscard]] float strip_height(const Ui& ui, const core::Session& session, const ViewState& state);
void draw_strip(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Below everything: back, play and on, what the current step does or what the edits did, in a sentence, and which step
// of all it is. Its height is the same with and without edits: the first edit must not move what is being clicked.
[[nodiscard]] float foot_height(const Ui& ui);
void draw_foot(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// A text that is computed in several passes: a line of boxes, one for each pass, and one for the whole text.
[[nodiscard]] float passes_height(const Ui& ui, const core::Session& session);
void draw_passes_line(const Ui& ui, const core::Session& session, Area area, Commands& commands);

// While playing, goes on to the next picture of the strip when its time has come: the pass takes twelve seconds,
// however deep the model is, most of them in the unfolded block. It goes on from where one is, and begins at the
// beginning where the model opened, and at the end, where it stops.
void play(const core::Session& session, ViewState& state, Commands& commands);

// Where the picture that stands for a step was drawn last, or its node on the stream; nothing if none does, as while
// the strip is folded.
[[nodiscard]] std::optional<Area> place_on_strip(const ViewState& state, StepId step);

// The tooltip of a step, wherever its name or its picture stands: name, formula, shape, what it is in a sentence, and
// what TransformerLens calls it.
void step_tooltip(const Ui& ui, const core::Session& session, const Step& step);

// The mark of what differs from the unedited run, beside a name.
inline constexpr const char* kChangedMark = "Δ";

}  // namespace decoderscope::views::strip
