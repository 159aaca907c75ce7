#pragma once

#include "tests/views/driver.h"

#include <string>

namespace decoderscope::testing {

// All texts of the inspector's column, one behind the other without spaces: a message there is broken into lines.
inline std::string said_beside(const Driver& d) {
    const float column = ImGui::GetIO().DisplaySize.x - d.state.inspector.drawn * d.fonts().scale;
    std::string said;
    for (const DrawnText& piece : d.seen())
        if (piece.low.x >= column) said += piece.text;
    return said;
}

}  // namespace decoderscope::testing
