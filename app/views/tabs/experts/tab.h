#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "engine/graph/mixture.h"

#include <optional>
#include <string>

namespace decoderscope::views::experts {

[[nodiscard]] Tab experts_tab();

// What the Experts tab remembers from frame to frame.
struct ExpertsTabState {
    std::string mlp;                // the mixture that is shown: "blocks.0.mlp"; empty: that of the cursor's block
    Index expert = 0;               // the chosen one
    std::optional<Index> position;  // chosen with it; nothing: every position
};

}  // namespace decoderscope::views::experts
