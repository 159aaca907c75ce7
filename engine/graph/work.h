#pragma once

#include <cstdint>
#include <vector>

namespace decoderscope {

// What an operation does to its operands, as its formula says it; a kernel may do less (skip what a mask hides) or
// more. A multiply-add is two operations, a function such as exp one. What depends on no operand (angles of positions,
// √d_head) counts as known before; comparisons and choices between numbers count as nothing.
struct Work {
    std::uint64_t operations = 0;      // on floating-point numbers
    std::vector<std::uint64_t> reads;  // how many of each operand's numbers it reads, each counted once
};

}  // namespace decoderscope
