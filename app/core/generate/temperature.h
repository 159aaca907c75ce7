#pragma once

#include "app/core/generate/sampling.h"
#include "engine/base/message.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Which temperature gives a token a wanted probability.
namespace decoderscope::core::generate {

inline constexpr double kLowestTemperature = 0.01, kHighestTemperature = 100.0;

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
