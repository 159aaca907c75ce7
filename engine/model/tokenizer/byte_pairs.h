#pragma once

#include "engine/model/tokenizer/vocabulary_ids.h"
#include "engine/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decoderscope {

using WrittenMerge = std::pair<std::string, std::string>;

// What a byte-pair encoding is made from.
struct BytePairTables {
    TokenIds ids;
    std::vector<WrittenMerge> merges;    // in order of priority
    std::optional<std::string> unknown;  // the token of a character that has none
    bool fuse_unknown = false;           // neighbouring unknown characters are one token
    bool byte_fallback = false;          // a character that has no token is spelled as "<0xC3><0xA9>"
    bool ignore_merges = false;          // a word that is a token is that token, whether merges lead there or not
    std::string prefix, suffix;          // of a word's later characters, and of its last
};

// Byte-pair encoding: a word begins as one token per character. Of all neighbours that can merge, the pair that comes
// first in the list merges, leftmost first, until none can.
class BytePairs {
public:
    // Throws Error naming a merge or an unknown token that is not in the vocabulary.
    explicit BytePairs(BytePairTables tables);

    // Adds the tokens of a word, in UTF-8, to `ids`. Takes O(n log n) for any word. Throws Error naming a character
    // without a token.
    void encode(std::string_view word, std::vector<Index>& ids) const;

private:
    struct Ranked {
        std::uint32_t rank = 0;
        Index result = 0;
    };
    [[nodiscard]] std::optional<Index> id_of(std::string_view token) const;
    [[nodiscard]] std::optional<std::vector<Index>> spelled(std::string_view character) const;
    [[nodiscard]] std::vector<Index> characters(std::string_view word) const;
    void merge(const std::vector<Index>& characters, std::vector<Index>& ids) const;

    BytePairTables tables_;
    std::optional<Index> unknown_;
    std::unordered_map<std::uint64_t, Ranked> merges_;  // by the two ids
};

}  // namespace decoderscope
