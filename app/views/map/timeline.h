#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views::map {

// The same with edits and without: the first edit must not move what is being clicked.
[[nodiscard]] float timeline_height(const Ui& ui, const core::Session& session);
void draw_timeline(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::map
