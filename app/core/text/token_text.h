#pragma once

#include "engine/tokenizer/tokenizer.h"

#include <string>
#include <string_view>

namespace decoderscope::core {

// How the window and its files write a token: chips, axes, bars, sentences. Nothing in it is invisible: a space is "␣",
// a line break "↵", a tab "→"; bytes that form no visible character are "\E3".
[[nodiscard]] std::string token_text(std::string_view piece);
// As above, for an id; in digits if the vocabulary has no piece for it.
[[nodiscard]] std::string token_text(const tokenizer::Tokenizer& tokenizer, Index id);

// Bytes as hexadecimal digits, each with `before` in front: "\E3\81".
[[nodiscard]] std::string hexadecimal(std::string_view bytes, std::string_view before);

}  // namespace decoderscope::core
