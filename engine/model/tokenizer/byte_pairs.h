#pragma once

#include "engine/tensor.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace decoderscope {

// Merges two neighbouring tokens into one.
struct Merge {
    Index left = 0, right = 0, result = 0;
};

// Byte-pair encoding: a word begins as one token per byte. Of all neighbours that can merge, the pair that comes first
// in the list merges, leftmost first, until none can.
class BytePairs {
public:
    // `bytes` are the tokens of the single bytes, −1 for none.
    BytePairs(const std::array<Index, 256>& bytes, const std::vector<Merge>& merges);

    // Adds the tokens of a word to `ids`. Takes O(n log n) for any word. Throws Error naming a byte without a token.
    void encode(std::string_view word, std::vector<Index>& ids) const;

private:
    struct Ranked {
        std::uint32_t rank = 0;
        Index result = 0;
    };

    std::array<Index, 256> bytes_;
    std::unordered_map<std::uint64_t, Ranked> merges_;  // by the two ids
};

}  // namespace decoderscope
