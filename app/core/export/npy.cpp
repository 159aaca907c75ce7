#include "app/core/export/npy.h"

#include <bit>
#include <cstdint>
#include <ostream>

namespace decoderscope {
namespace {

// As Python writes a tuple: "(2, 3)", "(4,)".
std::string tuple(const std::vector<Index>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

// Magic, version and length take ten bytes; with spaces and a line break the values start at a multiple of 64.
std::string npy_header(const std::vector<Index>& shape) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + tuple(shape) + ", }";
    constexpr std::size_t before = 10, alignment = 64;
    const std::size_t unpadded = before + text.size() + 1;
    text.append((alignment - unpadded % alignment) % alignment, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xFFU) +
           static_cast<char>(text.size() >> 8U) + text;
}

std::string npy_values(std::span<const float> values) {
    std::string bytes;
    bytes.reserve(values.size_bytes());
    for (const float value : values) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFFU);
    }
    return bytes;
}

void write_npy(std::ostream& out, const NamedArray& array) {
    out << npy_header(array.shape);
    array.for_each_piece([&](std::span<const float> values) { out << npy_values(values); });
}

void write_npy(std::ostream& out, const Heatmap& heatmap) {
    out << npy_header({heatmap.rows, heatmap.columns}) << npy_values(heatmap.values);
}

}  // namespace decoderscope
