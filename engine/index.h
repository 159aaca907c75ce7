#pragma once

#include <cstdint>

namespace decoderscope {

// A place along an axis, a length, or a count of numbers.
using Index = std::int64_t;

}  // namespace decoderscope
