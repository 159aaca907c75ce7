#pragma once

#include "app/views/frame/view_state.h"

namespace decoderscope {

using namespace decoderscope::core;
using namespace decoderscope::views;

// What the Magnitudes tab remembers from frame to frame.
struct MagnitudesTabState {
    bool largest_first = false;  // else in the order of computation
};

void draw_magnitudes_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
