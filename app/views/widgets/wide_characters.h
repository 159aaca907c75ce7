#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Dear ImGui, as it is packaged, edits text in characters of 16 bits, and an emoji has more. Such a character goes
// through its text boxes as four of the code points U+FDD0 to U+FDEF, which Unicode keeps free for a program's own use
// and which no text holds: each carries five of its bits.
namespace decoderscope {

// The carriers of a character beyond U+FFFF.
[[nodiscard]] std::u32string carriers_of(char32_t code);

// A text for a box, and a box's text as it is meant.
[[nodiscard]] std::string to_carriers(std::string_view text);
[[nodiscard]] std::string from_carriers(std::string_view text);

// Where carriers are no group of four any more because one was deleted: begin and length in bytes, the last first.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> broken_carriers(std::string_view text);

}  // namespace decoderscope
