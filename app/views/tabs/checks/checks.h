#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views::checks {

// The mark that tells whether the laws of every forward pass hold for this run. A click opens the dialog with the
// details.
[[nodiscard]] float checks_mark_width(const Ui& ui, const core::Session& session);
void draw_checks_mark(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 at);
void draw_checks_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::checks
