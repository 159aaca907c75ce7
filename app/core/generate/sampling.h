#pragma once

#include "engine/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace decoderscope {

// How the next token is chosen from the logits.
struct Sampling {
    double temperature = 1.0;  // 0: always the most probable token
    Index top_k = 0;           // only so many tokens stay; 0: all
    double top_p = 1.0;        // only the most probable tokens stay that make up this much; 1: all
    std::uint64_t seed = 0;    // the same seed draws the same numbers again
    bool operator==(const Sampling&) const = default;
};

// Throws Error naming the setting that is out of range.
void check_sampling(const Sampling& sampling);

// What took a token out of the draw.
enum class RemovedBy : std::uint8_t { nothing, temperature, top_k, top_p };

// A token that may come next.
struct Candidate {
    Index token = 0;
    float logit = 0.0F;
    double before = 0.0;  // the model's probability: softmax of the logits
    double after = 0.0;   // what it is drawn with; 0 where it was removed
    RemovedBy removed_by = RemovedBy::nothing;
};

// All tokens of the vocabulary, most probable first (equal ones by id), and what each cut took away.
struct NextToken {
    std::vector<Candidate> candidates;
    std::size_t kept = 0;  // so many of the first are drawn from
    // The probability mass that each cut took, as it found it: top-k after the temperature, top-p after top-k.
    double cut_by_temperature = 0.0, cut_by_top_k = 0.0, cut_by_top_p = 0.0;
};

// Temperature, then top-k, then top-p, then what is left sums to 1 again: the order and the rules of Hugging Face's
// transformers. Logits that tie with the k-th stay; top-p keeps the smallest set that makes up p, and always one token.
// Nothing where no logit is a number above −∞, or one is NaN or +∞: then there is nothing to draw from.
[[nodiscard]] std::optional<NextToken> next_token(std::span<const float> logits, const Sampling& sampling);

// The number on [0, 1) for the token at a position of a batch row: it depends on these and the seed alone, so that a
// run repeats, and stepping back and on again gives the same token.
[[nodiscard]] double sampling_number(std::uint64_t seed, Index row, Index position);

// Which token a number falls on: the candidates' probabilities end to end, in their order.
struct Draw {
    std::size_t rank = 0;         // in the candidates
    double from = 0.0, to = 0.0;  // its stretch of the sum
};
[[nodiscard]] Draw draw(const NextToken& next, double number);

}  // namespace decoderscope
