#pragma once

namespace decoderscope::testing {

// The last cross-attention of the bundled model "reverse": [batch, head, query, key].
inline constexpr const char* kCrossPattern = "blocks.1.cross_attn.pattern";

}  // namespace decoderscope::testing
