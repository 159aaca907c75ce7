#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace decoderscope {

// The token of a byte, in vocabularies that spell a character without a token of its own byte by byte: "<0x0A>".
[[nodiscard]] std::string byte_token(unsigned char byte);
// The byte of such a token; nothing if it is another.
[[nodiscard]] std::optional<unsigned char> byte_of_token(std::string_view token);

}  // namespace decoderscope
