#pragma once

#include "engine/tensor.h"

#include <string_view>
#include <vector>

namespace decoderscope {

// Rows of token ids as one batch, the shorter ones padded.
struct TokenBatch {
    Tensor tokens;  // [batch, length]
    Tensor mask;    // the same, 1 = keep, 0 = padding; empty if nothing is padded
};

// At least one row; `length_axis` is pos or src, `pad` the id used for padding.
[[nodiscard]] TokenBatch padded_batch(const std::vector<std::vector<Index>>& rows, std::string_view length_axis,
                                      Index pad = 0);

}  // namespace decoderscope
