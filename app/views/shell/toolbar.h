#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views::shell {

void draw_toolbar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::shell
