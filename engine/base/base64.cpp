#include "engine/base/base64.h"

#include "engine/base/error.h"

#include <array>
#include <cstdint>
#include <utility>

namespace decoderscope {

namespace {

constexpr std::string_view kStandardCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";  // not a message: an alphabet

constexpr std::string_view characters_of(Base64 alphabet) {
    return alphabet == Base64::url ? kBase64UrlCharacters : kStandardCharacters;
}

constexpr std::uint8_t kNoDigit = 64;

// The number of each character in the alphabet.
constexpr std::array<std::uint8_t, 256> digits_of(Base64 alphabet) {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (std::uint8_t i = 0; i < kNoDigit; ++i) digits[static_cast<unsigned char>(characters_of(alphabet)[i])] = i;
    return digits;
}

constexpr std::array<std::uint8_t, 256> kStandardDigits = digits_of(Base64::standard);
constexpr std::array<std::uint8_t, 256> kUrlDigits = digits_of(Base64::url);

std::string_view without_padding(std::string_view text) {
    if (text.size() % 4 == 0)
        for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    return text;
}

}  // namespace

std::string base64(std::string_view bytes, Base64 alphabet) {
    const std::string_view characters = characters_of(alphabet);
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    int count = 0;  // how many of them are not written yet
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(byte);
        for (count += 8; count >= 6; count -= 6) text += characters[(bits >> static_cast<unsigned>(count - 6)) & 63U];
    }
    if (count > 0) text += characters[(bits << static_cast<unsigned>(6 - count)) & 63U];
    if (alphabet == Base64::standard) text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text, Base64 alphabet) {
    const auto& digits = alphabet == Base64::url ? kUrlDigits : kStandardDigits;
    if (alphabet == Base64::standard) text = without_padding(text);
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int count = 0;  // how many of them make no whole byte yet
    for (const char character : text) {
        const std::uint8_t digit = digits[static_cast<unsigned char>(character)];
        if (digit == kNoDigit) return std::nullopt;
        bits = (bits << 6U) | digit;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(static_cast<unsigned char>(bits >> static_cast<unsigned>(count)));
    }
    // What remains of the last character: zeros, and less than a character.
    if (count >= 6 || (bits & ((1U << static_cast<unsigned>(count)) - 1U)) != 0) return std::nullopt;
    return bytes;
}

std::string read_base64(std::string_view text) {
    std::optional<std::string> bytes = bytes_of_base64(text);
    if (!bytes) throw Error("expected Base64");
    return std::move(*bytes);
}

}  // namespace decoderscope
