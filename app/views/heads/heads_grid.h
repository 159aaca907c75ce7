#pragma once

#include "app/views/shell/view_state.h"

namespace decoderscope {

// The grid of the Heads tab: every head of a kind as a small pattern with its measure under it; above it which kind,
// which measure, in which order, and from where on heads are dimmed.
void draw_heads_grid(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
