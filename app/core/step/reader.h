#pragma once

#include "engine/tensor.h"

#include <span>
#include <vector>

namespace decoderscope {

// Reads tensors without keeping what they are made from: values that were not read yet are made in a room of the
// reader's own, which the next ones take over.
class Reader {
public:
    // Valid until the next call.
    [[nodiscard]] std::span<const float> operator()(const Tensor& tensor);

private:
    std::vector<float> room_;
};

}  // namespace decoderscope
