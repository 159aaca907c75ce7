#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

namespace decoderscope::views::map {

// Its height is the same with and without edits: the first edit must not move what is being clicked. In the simple
// layout one line takes its place: links to the next step and back, where the user is, and what the edits did.
[[nodiscard]] float timeline_height(const Ui& ui, const core::Session& session, const ViewState& state);
void draw_timeline(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// A text that is computed in several passes: a line above the timeline, one box for each pass, and one for the whole
// text.
[[nodiscard]] float passes_height(const Ui& ui, const core::Session& session);
void draw_passes_line(const Ui& ui, const core::Session& session, Area area, Commands& commands);

// The tooltip of a step, wherever its name or its mark stands: name, formula, shape, what it is in a sentence, and what
// TransformerLens calls it.
void step_tooltip(const Ui& ui, const core::Session& session, const Step& step);

// Where the next tooltip goes: right of a row of the map, so that it covers no other row; or above the timeline.
void place_tooltip_beside(const Ui& ui, Area row);
void place_tooltip_above(const Ui& ui, Area timeline);

// The mark of what differs from the unedited run, at the right end of a row in the map; the same in the timeline's
// line.
inline constexpr const char* kChangedMark = "Δ";

void draw_map(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::map
