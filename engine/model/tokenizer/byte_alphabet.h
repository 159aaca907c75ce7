#pragma once

#include <optional>
#include <string>
#include <string_view>

// GPT-2's vocabulary files write each of the 256 bytes as one visible character, so that a token can be any bytes: the
// visible Latin-1 characters represent themselves, and the other 68 bytes are written as U+0100 and following ("Ġ" is a
// space, "Ċ" a line break).
namespace decoderscope {

// The character for a byte, in UTF-8.
[[nodiscard]] std::string written_byte(unsigned char byte);

// The bytes written this way; nothing if a character is not in the alphabet.
[[nodiscard]] std::optional<std::string> bytes_written_as(std::string_view written);

}  // namespace decoderscope
