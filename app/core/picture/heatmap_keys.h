#pragma once

#include "app/core/picture/heatmap.h"

#include <cstdint>
#include <limits>
#include <span>

// Of the cells that share a pixel, the one of the largest magnitude is shown. Each cell is turned into one number, its
// priority, so that a picture of millions of cells takes one comparison per cell.
namespace decoderscope {

// The bits of the magnitude, which grow with it up to ∞ and NaN, then the sign bit; minus 2^31, because signed numbers
// are compared in fewer instructions. A hidden cell other than NaN has the lowest key.
using Key = std::int32_t;
inline constexpr Key kHiddenKey = std::numeric_limits<Key>::min();

// The value of a key other than kHiddenKey.
[[nodiscard]] float value_of(Key key);

// Raises the keys of a row of pixels, one pixel a cell, to those of the cells from `offset` on.
void raise_keys(std::span<Key> keys, const Heatmap& heatmap, Index offset);

}  // namespace decoderscope
