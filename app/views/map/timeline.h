#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views::map {

// Its height is the same with and without edits: the first edit must not move what is being clicked. In the simple
// layout one line takes its place: links to the next step and back, where the user is, and what the edits did.
[[nodiscard]] float timeline_height(const Ui& ui, const core::Session& session, const ViewState& state);
void draw_timeline(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::map
