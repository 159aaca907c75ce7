#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

#include <string>

namespace decoderscope::views::checks {

// The mark of a law of every forward pass that doesn't hold for this run, or of laws that a lesson has closed; empty
// while all is well. A click on it opens the dialog with the details.
[[nodiscard]] std::string checks_mark(const core::Session& session, const ViewState& state);
void draw_checks_mark(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 at);
void draw_checks_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::checks
