#pragma once

#include "app/views/frame/view_state.h"

namespace decoderscope::views::heads {

// One head filling the stage: its pattern, the lines from queries to keys, its q, k and v, and its switches.
void draw_head_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::heads
