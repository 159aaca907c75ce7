#pragma once

#include "engine/graph/plan.h"

#include <string>

namespace decoderscope::core::diff {

// The name under which TransformerLens records the same tensor ("blocks.0.attn.hook_pattern" for
// "blocks.0.attn.pattern"); empty if it records none. Its attn_scores are our masked_scores, after the mask; in a gated
// MLP it calls the gate hook_pre and what the gate multiplies hook_pre_linear.
[[nodiscard]] std::string transformer_lens_name(const Plan& plan, const Step& step);

}  // namespace decoderscope::core::diff
