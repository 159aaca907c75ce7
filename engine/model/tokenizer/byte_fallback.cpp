#include "engine/model/tokenizer/byte_fallback.h"

#include <charconv>

namespace decoderscope {

std::string byte_token(unsigned char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {'<', '0', 'x', digits[byte >> 4U], digits[byte & 15U], '>'};
}

std::optional<unsigned char> byte_of_token(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
    unsigned char byte = 0;
    const char* end = token.data() + 5;
    return std::from_chars(token.data() + 3, end, byte, 16).ptr == end ? std::optional(byte) : std::nullopt;
}

}  // namespace decoderscope
