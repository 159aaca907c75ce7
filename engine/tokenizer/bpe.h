#pragma once

#include "engine/tensor/tensor.h"
#include "engine/tokenizer/regular_expression.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decoderscope::tokenizer {

// A unigram language model: of all ways to cut a text into pieces, the one whose scores have the largest sum, found by
// Viterbi's algorithm.
class Unigram {
public:
    using Piece = std::pair<std::string, double>;  // with its score, a logarithm

    // A piece's place is its id. Throws Error if a piece is there twice or a score is not finite.
    Unigram(std::vector<Piece> pieces, std::optional<Index> unknown, bool byte_fallback);

    // Adds the ids of a text, in UTF-8. Throws Error naming a character that has no piece, if no piece is the unknown
    // one.
    void encode(std::string_view text, std::vector<Index>& ids) const;

private:
    struct Step;
    [[nodiscard]] std::optional<Index> id_of(std::string_view piece) const;
    template <class Visit>
    void each_beginning(std::string_view text, Visit visit) const;
    [[nodiscard]] std::vector<Step> best_steps(std::string_view text) const;
    void add(std::string_view piece, std::vector<Index>& ids) const;

    std::vector<Piece> pieces_;
    std::vector<Index> sorted_;  // ids by the bytes of their pieces
    std::optional<Index> unknown_;
    bool byte_fallback_;
    double unknown_score_ = 0.0;
};

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

// Byte-pair encoding: a word begins as one token per character. Among all neighbours that can merge, the pair that
// comes first in the list merges, leftmost first, until none can.
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

// The tables of a byte-level byte-pair encoding, written in the byte alphabet.
struct ByteLevelTables {
    TokenIds ids;
    std::vector<WrittenMerge> merges;  // in order of priority
    TokenIds added;                    // tokens matched literally in a text, not written in the alphabet
    std::optional<Index> beginning;    // put before every text
};

// GPT-2's tokenizer with these tables; it can encode any UTF-8. Throws Error naming a merge that is not in the
// vocabulary.
[[nodiscard]] Tokenizer byte_level_tokenizer(const ByteLevelTables& tables);

// The token at which generation stops, by the names that models give it.
[[nodiscard]] std::optional<Index> end_token(const TokenIds& ids);

// GPT-2's two files: vocab.json, an object of tokens and their ids, and merges.txt, one merge per line. Both throw
// Error naming the token or the line.
[[nodiscard]] TokenIds parse_vocab_json(std::string_view json);
[[nodiscard]] std::vector<WrittenMerge> parse_merges(std::string_view text);

// "Ġ t". Throws Error if these are not two.
[[nodiscard]] WrittenMerge parse_merge(std::string_view line);

}  // namespace decoderscope::tokenizer
