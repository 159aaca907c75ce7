#pragma once

#include "app/views/frame/view_state.h"

namespace decoderscope::views::heads {

// The grid of the Heads tab: every head of a kind as a small pattern with its measure below. Above the grid are the
// choices of kind, measure, order and the threshold for dimming heads.
void draw_heads_grid(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope::views::heads
