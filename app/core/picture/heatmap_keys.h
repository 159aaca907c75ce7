#pragma once

#include "app/core/picture/heatmap.h"

#include <cstdint>
#include <limits>
#include <span>

// Which of the cells that share a pixel is seen: the one of the largest magnitude. Each cell is turned into one number
// that says how strongly it asks, so that a picture of millions of cells takes a comparison for each.
namespace decoderscope {

// The bits of the magnitude, which grow with it up to ∞ and NaN, and the sign behind them; less 2^31, because signed
// numbers are compared in fewer instructions. A hidden cell other than NaN has the least.
using Key = std::int32_t;
inline constexpr Key kHiddenKey = std::numeric_limits<Key>::min();

// The value of a key other than kHiddenKey.
[[nodiscard]] float value_of(Key key);

// Raises the keys of a row of pixels as wide as cells to those of the cells from `offset` on.
void raise_keys(std::span<Key> keys, const Heatmap& heatmap, Index offset);

}  // namespace decoderscope
