#pragma once

#include "engine/tensor.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace decoderscope {

// Two neighbouring tokens become one.
struct Merge {
    Index left = 0, right = 0, result = 0;
};

// Byte-pair encoding: a word begins as a token a byte; of all neighbours that may merge, those that come first in the
// list do, the leftmost first, until none may.
class BytePairs {
public:
    // `bytes` are the tokens of the single bytes, −1 where there is none.
    BytePairs(const std::array<Index, 256>& bytes, const std::vector<Merge>& merges);

    // Adds the tokens of a word to `ids`. Takes n log n, whatever the word. Throws Error naming a byte without a token.
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
