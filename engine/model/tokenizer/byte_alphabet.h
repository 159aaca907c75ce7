#pragma once

#include <optional>
#include <string>
#include <string_view>

// GPT-2's vocabulary files write each of the 256 bytes as one visible character, so that a token can be any bytes:
// those that Latin-1 shows stand for themselves, and the other 68 for U+0100 and what follows ("Ġ" is a space, "Ċ" a
// line break).
namespace decoderscope {

// The character that a byte is written as, in UTF-8.
[[nodiscard]] std::string written_byte(unsigned char byte);

// The bytes that are written so; nothing where a character is none of the alphabet.
[[nodiscard]] std::optional<std::string> bytes_written_as(std::string_view written);

}  // namespace decoderscope
