#pragma once

#include "app/core/run/bounds.h"
#include "engine/base/message.h"
#include "engine/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::core::generate {

// How the next token is chosen from the logits.
struct Sampling {
    double temperature = 1.0;  // 0: always the most probable token
    Index top_k = 0;           // only this many tokens stay; 0: all
    double top_p = 1.0;        // only the most probable tokens that add up to this stay; 1: all
    std::uint64_t seed = 0;    // the same seed draws the same numbers
    bool operator==(const Sampling&) const = default;
};

// Throws Error naming the setting that is out of range.
void check_sampling(const Sampling& sampling);

// What removed a token from the draw.
enum class RemovedBy : std::uint8_t { nothing, temperature, top_k, top_p };

// A token that may come next.
struct Candidate {
    Index token = 0;
    float logit = 0.0F;
    double before = 0.0;  // the model's probability: softmax of the logits
    double after = 0.0;   // the probability it is drawn with; 0 if it was removed
    RemovedBy removed_by = RemovedBy::nothing;
};

// All tokens of the vocabulary, most probable first (ties by id), and what each cut removed.
struct NextToken {
    std::vector<Candidate> candidates;
    std::size_t kept = 0;  // this many of the first are drawn from
    // The probability mass that each cut removed from what it was given: top-k after the temperature, top-p after
    // top-k.
    double cut_by_temperature = 0.0, cut_by_top_k = 0.0, cut_by_top_p = 0.0;
};

// Temperature, then top-k, then top-p, then scaling what is left to sum to 1: the order and the rules of Hugging Face's
// transformers. Logits that tie with the k-th stay; top-p keeps the smallest set that adds up to p, and at least one
// token. Nothing if no logit is above −∞, or one is NaN or +∞: then there is nothing to draw from.
[[nodiscard]] std::optional<NextToken> next_token(std::span<const float> logits, const Sampling& sampling);
// The token that temperature 0 takes, without its rivals in order; nothing in the same cases.
[[nodiscard]] std::optional<Index> greedy_token(std::span<const float> logits);

// The number in [0, 1) for the token at a position of a batch row: it depends on these and the seed alone, so that a
// run repeats, and stepping back and forward gives the same token.
[[nodiscard]] double sampling_number(std::uint64_t seed, Index row, Index position);

// Which token a number falls on, with the candidates' probabilities laid end to end in their order.
struct Draw {
    std::size_t rank = 0;         // in the candidates
    double from = 0.0, to = 0.0;  // its interval of the sum
};
[[nodiscard]] Draw draw(const NextToken& next, double number);

// Which temperature gives a token a wanted probability.
inline constexpr double kLowestTemperature = 0.01, kHighestTemperature = bounds::kTemperature.most;

// softmax(logits / T) of one token as T goes from the lowest to the highest temperature: it rises to one highest value
// and falls again (its logarithm is concave in 1/T), so a probability is reached at two temperatures, one, or none.
struct TemperatureFor {
    std::vector<double> reached_at;  // ascending
    double highest = 0.0;            // the probability that the token gets at most
    double highest_at = 0.0;         // the temperature of that
};

// The probability of candidate number `rank` at this temperature, before top-k and top-p.
[[nodiscard]] double probability_at(std::span<const Candidate> candidates, std::size_t rank, double temperature);

// For candidate number `rank` of all tokens of the vocabulary (NextToken::candidates).
[[nodiscard]] TemperatureFor temperature_for(std::span<const Candidate> candidates, std::size_t rank,
                                             double probability);
// "“a” reaches 0.25 at temperature 1.31.", or that it can't be reached.
[[nodiscard]] Sentence temperature_sentence(const TemperatureFor& found, const std::string& token, double probability);

}  // namespace decoderscope::core::generate
