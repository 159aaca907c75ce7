#pragma once

#include "engine/model/config.h"
#include "engine/model/families/family.h"
#include "engine/model/state_dict.h"

#include <string>
#include <vector>

namespace decoderscope {

// What a family's files leave out, because a formula says it: biases of zeros, and Marian's tables of positions. Adds
// their shapes and returns the tables, which make_positions() fills in. Throws Error naming the tensor if a bias that
// the family doesn't have is stored.
[[nodiscard]] std::vector<std::string> add_left_out(StateDict& state_dict, const Config& config,
                                                    const ModelFamily& family);

// Sines in the first half of the columns, cosines in the second, of the angles pos · 10000^(−2i/d_model).
void make_positions(Weights& weights, const std::vector<std::string>& tables);

}  // namespace decoderscope
