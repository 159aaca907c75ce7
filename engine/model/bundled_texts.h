#pragma once

#include "engine/message.h"

#include <string_view>

namespace decoderscope {

// A text of an example.json. Those of the bundled models are messages, and so translated; any other is shown as it is.
[[nodiscard]] Sentence example_text(std::string_view text);

}  // namespace decoderscope
