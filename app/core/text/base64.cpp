#include "app/core/text/base64.h"

#include <cstdint>

namespace decoderscope {

std::string base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    std::uint32_t bits = 0;
    int count = 0;  // how many of them are not written yet
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(byte);
        for (count += 8; count >= 6; count -= 6)
            text += kBase64UrlCharacters[(bits >> static_cast<unsigned>(count - 6)) & 63U];
    }
    if (count > 0) text += kBase64UrlCharacters[(bits << static_cast<unsigned>(6 - count)) & 63U];
    return text;
}

std::optional<std::string> bytes_of_base64url(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;  // how many of them make no whole byte yet
    for (const char character : text) {
        const std::size_t value = kBase64UrlCharacters.find(character);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(static_cast<unsigned char>(bits >> static_cast<unsigned>(count)));
    }
    // What remains is the last character's padding: zeros, and less than a character.
    if (count >= 6 || (bits & ((1U << static_cast<unsigned>(count)) - 1U)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace decoderscope
