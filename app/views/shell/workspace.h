#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views::shell {

// The whole window: where the panels lie, and what the keys do. Draws what the session shows and returns what the user
// asked for.
[[nodiscard]] Commands draw_workspace(const Ui& ui, const core::Session& session, ViewState& state);

}  // namespace decoderscope::views::shell
