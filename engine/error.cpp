#include "engine/error.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The first place from `at` on where a UTF-8 character begins.
std::size_t character_from(const std::string& text, std::size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    return at;
}

// Control characters become spaces; of a text beyond all reason the beginning and the end stay, which say where and
// what.
std::string one_line(std::string text) {
    constexpr std::size_t kEnd = 2000;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20U || c == 0x7FU; }, ' ');
    if (text.size() <= 2 * kEnd) return text;
    return text.substr(0, character_from(text, kEnd)) + " … " + text.substr(character_from(text, text.size() - kEnd));
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(one_line(message)) {}

}  // namespace decoderscope
