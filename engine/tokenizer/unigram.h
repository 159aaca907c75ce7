#pragma once

#include "engine/tensor/tensor.h"
#include "engine/tokenizer/regular_expression.h"

#include <optional>
#include <string>
#include <string_view>
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

}  // namespace decoderscope::tokenizer
