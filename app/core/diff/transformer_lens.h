#pragma once

#include "engine/plan.h"

#include <string>

namespace decoderscope {

// The name under which TransformerLens records the same tensor ("blocks.0.attn.hook_pattern" for
// "blocks.0.attn.pattern"); empty where it records none. Its attn_scores are those after the mask, ours under
// masked_scores; in a gated MLP it calls the gate hook_pre and what it multiplies hook_pre_linear.
[[nodiscard]] std::string transformer_lens_name(const Plan& plan, const Step& step);

}  // namespace decoderscope
