#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <functional>
#include <string>

namespace decoderscope::views {

// Draws a part of the window, or does what a frame does before its parts. If it throws, whatever that is, it counts as
// not drawn: ImGui's stacks are as before, its commands are dropped, and a message says what was thrown, so that the
// other parts and the work go on. Returns whether it was done.
bool guarded(Commands& commands, const std::function<void(Commands&)>& draw);

// As above, of a part with a place. Where it threw, its area says so in one sentence and offers to try again; it is
// also tried again once something else is to be shown: another run, cursor, tab or dialog.
bool draw_guarded(const Ui& ui, const core::Session& session, ViewState& state, const std::string& part, Area area,
                  Commands& commands, const std::function<void(Commands&)>& draw);

}  // namespace decoderscope::views
