#pragma once

#include "engine/message.h"

#include <span>

namespace decoderscope {

// Gets a font that has these characters, where fonts are loaded on demand. Returns what is said meanwhile; empty if
// none is on its way, and what is installed is all there is.
[[nodiscard]] Sentence fetch_fonts(std::span<const char32_t> missing);

}  // namespace decoderscope
