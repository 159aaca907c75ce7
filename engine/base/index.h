#pragma once

#include <cstdint>

namespace decoderscope {

// A position along an axis, a length, or a count of numbers.
using Index = std::int64_t;

}  // namespace decoderscope
