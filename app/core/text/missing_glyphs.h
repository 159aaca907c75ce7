#pragma once

#include "engine/message.h"

#include <span>
#include <string>

namespace decoderscope {

// "U+4F60".
[[nodiscard]] std::string code_point_text(char32_t code);

// What can't be drawn and which Debian package would help, in a sentence or two; empty if nothing is missing. `widest`:
// the last character that the window can draw at all.
[[nodiscard]] Sentence missing_glyphs_sentence(std::span<const char32_t> missing, char32_t widest);

}  // namespace decoderscope
