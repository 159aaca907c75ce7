#pragma once

#include "engine/graph/run.h"

#include <string>
#include <vector>

namespace decoderscope::core::norms {

// How long one position's row of the residual stream is (L2): what enters the stack, then what each block leaves.
struct StreamLength {
    std::string step;   // "blocks.1.resid_post"
    std::string block;  // empty for what enters the stack
    double length = 0.0;
};
[[nodiscard]] std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position);

}  // namespace decoderscope::core::norms
