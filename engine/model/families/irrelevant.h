#pragma once

#include <string_view>

namespace decoderscope::families {

// Whether a key of any Hugging Face configuration leaves the forward pass as it is: names and versions, training,
// tokens with a special meaning, how text is generated, how the same numbers are computed.
[[nodiscard]] bool is_irrelevant(std::string_view key);

}  // namespace decoderscope::families
