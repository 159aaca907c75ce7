#pragma once

#include "engine/base/message.h"
#include "engine/tokenizer/tokenizer.h"

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace decoderscope::core {

// "U+4F60".
[[nodiscard]] std::string code_point_text(char32_t code);

// The text with each of these characters written by its code point: "U+4F60U+597D".
[[nodiscard]] std::string with_code_points(std::string_view text, const std::set<char32_t>& missing);

// What can't be drawn, and what to install if that helps, in a sentence or two; empty if nothing is missing. `widest`:
// the last character that the window can draw at all.
[[nodiscard]] Sentence missing_glyphs_sentence(std::span<const char32_t> missing, char32_t widest);

// How the window and its files write a token: chips, axes, bars, sentences. Nothing in it is invisible: a space is "␣",
// a line break "↵", a tab "→"; bytes that form no visible character are "\E3".
[[nodiscard]] std::string token_text(std::string_view piece);
// As above, for an id; in digits if the vocabulary has no piece for it.
[[nodiscard]] std::string token_text(const tokenizer::Tokenizer& tokenizer, Index id);

// Bytes as hexadecimal digits, each with `before` in front: "\E3\81".
[[nodiscard]] std::string hexadecimal(std::string_view bytes, std::string_view before);

}  // namespace decoderscope::core
