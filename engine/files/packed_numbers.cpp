#include "engine/files/packed_numbers.h"

#include "engine/base/error.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace decoderscope::packed {

namespace {

// A sign, two bits of exponent, one of fraction.
constexpr std::array<float, 16> kFp4 = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                        -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

constexpr unsigned kNan = 255;  // of a scale's byte

std::size_t blocks_across(Index columns) {
    return static_cast<std::size_t>((columns + kScaledBlock - 1) / kScaledBlock);
}

}  // namespace

float fp4(unsigned bits) { return kFp4[bits]; }

float power_of_two(unsigned byte) {
    constexpr int kBias = 127;
    return byte == kNan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, static_cast<int>(byte) - kBias);
}

void check_mxfp4_scales(std::span<const char> scales) {
    for (std::size_t block = 0; block < scales.size(); ++block)
        if (static_cast<std::uint8_t>(scales[block]) == kNan)
            throw Error("scale {block} is NaN, expected a power of 2", {{"block", block}});
}

void expand_mxfp4(std::span<const char> blocks, std::span<const char> scales, std::span<float> to) {
    constexpr auto kBytes = static_cast<std::size_t>(kMxfp4Bytes), kNumbers = static_cast<std::size_t>(kMxfp4Numbers);
    check_mxfp4_scales(scales);
    for (std::size_t block = 0; block < scales.size(); ++block) {
        const float scale = power_of_two(static_cast<std::uint8_t>(scales[block]));
        for (std::size_t i = 0; i < kBytes; ++i) {
            const auto byte = static_cast<std::uint8_t>(blocks[block * kBytes + i]);
            to[block * kNumbers + 2 * i] = fp4(byte & 15U) * scale;
            to[block * kNumbers + 2 * i + 1] = fp4(byte >> 4U) * scale;
        }
    }
}

void check_block_scales(Index columns, std::span<const float> scales) {
    const std::size_t across = blocks_across(columns);
    for (std::size_t i = 0; i < scales.size(); ++i)
        if (!std::isfinite(scales[i]))
            throw Error("the scale of block [{row},{column}] is {value}, expected a finite number",
                        {{"row", i / across}, {"column", i % across}, {"value", std::to_string(scales[i])}});
}

void scale_blocks(std::span<float> matrix, Index columns, std::span<const float> scales) {
    check_block_scales(columns, scales);
    const auto width = static_cast<std::size_t>(columns), side = static_cast<std::size_t>(kScaledBlock);
    const std::size_t across = blocks_across(columns);
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] *= scales[i / width / side * across + i % width / side];
}

}  // namespace decoderscope::packed
