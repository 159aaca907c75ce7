#pragma once

#include "engine/tensor.h"

#include <span>
#include <vector>

namespace decoderscope {

// Reads tensors without storing on-demand values: values not computed yet are computed into the reader's own buffer,
// which the next call reuses.
class Reader {
public:
    // Valid until the next call.
    [[nodiscard]] std::span<const float> operator()(const Tensor& tensor);

private:
    std::vector<float> room_;
};

}  // namespace decoderscope
