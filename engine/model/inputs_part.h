#pragma once

#include "engine/model/inputs.h"

#include <optional>

namespace decoderscope {

// Some positions of the decoder's input, in all rows of the batch or in one.
struct InputsPart {
    Index first = 0, count = 0;
    std::optional<Index> row = std::nullopt;
};

// The inputs of a pass over these positions: tokens or x for only these, key masks from the very first position to the
// last of these, and the encoder's inputs whole. The part must lie within the inputs.
[[nodiscard]] Inputs part_of(const Inputs& inputs, const InputsPart& part);

}  // namespace decoderscope
