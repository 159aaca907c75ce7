#include "app/core/export/npy.h"

#include <array>
#include <bit>
#include <cstdint>
#include <ostream>
#include <string>

namespace decoderscope {
namespace {

// Magic, version and length take ten bytes; with spaces and a line break the values start at a multiple of 64.
std::string header(Index rows, Index columns) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
    constexpr std::size_t before = 10, alignment = 64;
    const std::size_t unpadded = before + text.size() + 1;
    text.append((alignment - unpadded % alignment) % alignment, ' ');
    return text + "\n";
}

std::array<char, 4> little_endian(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return {static_cast<char>(bits & 0xFFU), static_cast<char>(bits >> 8U & 0xFFU),
            static_cast<char>(bits >> 16U & 0xFFU), static_cast<char>(bits >> 24U)};
}

}  // namespace

void write_npy(std::ostream& out, const Heatmap& heatmap) {
    const std::string text = header(heatmap.rows, heatmap.columns);
    out << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(text.size() & 0xFFU)
        << static_cast<char>(text.size() >> 8U) << text;
    for (const float value : heatmap.values) {
        const auto bytes = little_endian(value);
        out.write(bytes.data(), bytes.size());
    }
}

}  // namespace decoderscope
