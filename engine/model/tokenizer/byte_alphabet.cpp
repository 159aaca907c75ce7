#include "engine/model/tokenizer/byte_alphabet.h"

#include <array>

namespace decoderscope {

namespace {

constexpr unsigned kOthersFrom = 0x100;

constexpr bool shows_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The code point that each byte is written as.
constexpr std::array<unsigned, 256> make_codes() {
    std::array<unsigned, 256> codes{};
    unsigned next = kOthersFrom;
    for (unsigned byte = 0; byte < 256; ++byte) codes[byte] = shows_itself(byte) ? byte : next++;
    return codes;
}

constexpr std::array<unsigned, 256> kCodes = make_codes();
constexpr unsigned kCodesEnd = kOthersFrom + 68;

// The byte of each code point; −1 if none.
constexpr std::array<int, kCodesEnd> make_bytes() {
    std::array<int, kCodesEnd> bytes{};
    bytes.fill(-1);
    for (unsigned byte = 0; byte < 256; ++byte) bytes[kCodes[byte]] = static_cast<int>(byte);
    return bytes;
}

constexpr std::array<int, kCodesEnd> kBytes = make_bytes();

}  // namespace

std::string written_byte(unsigned char byte) {
    const unsigned code = kCodes[byte];
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xC0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3FU))};
}

std::optional<std::string> bytes_written_as(std::string_view written) {
    std::string bytes;
    for (std::size_t at = 0; at < written.size(); ++at) {
        unsigned code = static_cast<unsigned char>(written[at]);
        if (code >= 0x80) {  // every character of the alphabet takes at most two bytes
            if ((code & 0xE0U) != 0xC0U || at + 1 == written.size()) return std::nullopt;
            code = ((code & 0x1FU) << 6U) | (static_cast<unsigned char>(written[++at]) & 0x3FU);
        }
        if (code >= kCodesEnd || kBytes[code] < 0) return std::nullopt;
        bytes += static_cast<char>(kBytes[code]);
    }
    return bytes;
}

}  // namespace decoderscope
