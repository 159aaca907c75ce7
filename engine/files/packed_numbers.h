#pragma once

#include "engine/tensor/tensor.h"

#include <span>

// Numbers that are stored in fewer bits, with a scale for many of them.
namespace decoderscope::packed {

// MXFP4 (OCP Microscaling Formats 1.0): numbers of 4 bits, two in a byte, the first in its lower half; each 32 of them
// have a scale of 2^(e − 127) in a byte of its own.
inline constexpr Index kMxfp4Numbers = 32, kMxfp4Bytes = 16;

// What four of its bits stand for, and a byte of scale; NaN for the byte 255.
[[nodiscard]] float fp4(unsigned bits);
[[nodiscard]] float power_of_two(unsigned byte);

// A scale below this can't make a number of any of these types infinite.
inline constexpr float kOrdinaryScale = 1e30F;

// Expands MXFP4 blocks: 32 numbers for each scale. Throws Error if a scale is NaN, the byte 255.
void expand_mxfp4(std::span<const char> blocks, std::span<const char> scales, std::span<float> to);

// The sides of the blocks that have a scale each, in DeepSeek-V3's files.
inline constexpr Index kScaledBlock = 128;

// Multiplies a matrix, [rows, columns], by the scale of each block of 128 × 128, of which the last ones may be cut off.
//    scales [⌈rows / 128⌉, ⌈columns / 128⌉]
// Throws Error if a scale is not finite.
void scale_blocks(std::span<float> matrix, Index columns, std::span<const float> scales);
// Throws the same Error if a scale is not finite.
void check_block_scales(Index columns, std::span<const float> scales);
// Throws Error if a scale of MXFP4 is NaN.
void check_mxfp4_scales(std::span<const char> scales);

}  // namespace decoderscope::packed
