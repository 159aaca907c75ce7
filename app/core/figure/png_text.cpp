#include "app/core/figure/picture_files.h"

#include <zlib.h>

#include <cstdint>

namespace decoderscope::core {
namespace {

// Four bytes, the highest first.
std::string big_endian(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFFU);
    return bytes;
}

}  // namespace

std::string described_png(std::string file, std::string_view description) {
    if (description.empty()) return file;
    // Keyword, neither compressed nor in a language of its own, text; https://www.w3.org/TR/png/#11iTXt
    const std::string chunk = std::string("iTXtDescription") + std::string(5, '\0') + std::string(description);
    const uLong check = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
    constexpr std::size_t signature = 8, header = 25;  // which comes first
    return file.insert(signature + header, big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk +
                                               big_endian(static_cast<std::uint32_t>(check)));
}

}  // namespace decoderscope::core
