#pragma once

#include "engine/model/names/parts.h"

#include <vector>

namespace decoderscope::names {

// What stands before and behind the blocks, under the contract's names: embed, pos_embed, embed_norm, norm, lm_head,
// and the encoder's own. A module can be several: one embedding for both sides. What is not recognised stays in
// `modules`.
[[nodiscard]] std::vector<Assigned> take_outside(Modules& modules, bool has_encoder, Context& context);

}  // namespace decoderscope::names
