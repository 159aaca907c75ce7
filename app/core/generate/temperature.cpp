#include "app/core/generate/temperature.h"

#include "app/core/text/numbers.h"

#include <cmath>

namespace decoderscope::core::generate {

namespace {

// The logits that softmax(logits · beta) expects: Σ p·logit. It rises with beta.
double expected_logit(std::span<const Candidate> candidates, double beta) {
    const auto largest = static_cast<double>(candidates.front().logit);
    double sum = 0.0, weighted = 0.0;
    for (const Candidate& candidate : candidates) {
        const auto logit = static_cast<double>(candidate.logit);
        if (!std::isfinite(logit)) continue;
        const double weight = std::exp((logit - largest) * beta);
        sum += weight;
        weighted += weight * logit;
    }
    return weighted / sum;
}

// Where a function that goes from below zero to above it, or the other way round, crosses it.
template <class Function>
double crossing(double low, double high, const Function& function) {
    const bool rises = function(high) > function(low);
    for (int i = 0; i < 60; ++i) {
        const double middle = std::sqrt(low * high);
        ((function(middle) > 0.0) == rises ? high : low) = middle;
    }
    return std::sqrt(low * high);
}

}  // namespace

double probability_at(std::span<const Candidate> candidates, std::size_t rank, double temperature) {
    const auto largest = static_cast<double>(candidates.front().logit);
    const auto weight = [&](const Candidate& candidate) {
        return std::exp((static_cast<double>(candidate.logit) - largest) / temperature);
    };
    double sum = 0.0;
    for (const Candidate& candidate : candidates) sum += weight(candidate);
    return weight(candidates[rank]) / sum;
}

TemperatureFor temperature_for(std::span<const Candidate> candidates, std::size_t rank, double probability) {
    const auto logit = static_cast<double>(candidates[rank].logit);
    const auto short_of = [&](double temperature) {
        return probability_at(candidates, rank, temperature) - probability;
    };
    TemperatureFor found;
    // The highest probability is where the expected logit is the token's own.
    const auto ahead = [&](double temperature) { return logit - expected_logit(candidates, 1.0 / temperature); };
    found.highest_at = ahead(kLowestTemperature) >= 0.0    ? kLowestTemperature
                       : ahead(kHighestTemperature) <= 0.0 ? kHighestTemperature
                                                           : crossing(kLowestTemperature, kHighestTemperature, ahead);
    found.highest = probability_at(candidates, rank, found.highest_at);
    if (found.highest < probability) return found;
    const auto add = [&](double low, double high) {
        if (low < high && (short_of(low) < 0.0) != (short_of(high) < 0.0))
            found.reached_at.push_back(crossing(low, high, short_of));
    };
    add(kLowestTemperature, found.highest_at);
    add(found.highest_at, kHighestTemperature);
    return found;
}

Sentence temperature_sentence(const TemperatureFor& found, const std::string& token, double probability) {
    const auto said = [](double number) { return short_number_text(number, 3); };
    Arguments arguments = {{"token", token}, {"probability", said(probability)}};
    if (found.reached_at.empty()) {
        arguments.push_back({"highest", said(found.highest)});
        arguments.push_back({"temperature", said(found.highest_at)});
        return found.highest < probability
                   ? message(
                         "“{token}” can't reach {probability}: it gets at most {highest}, at temperature "
                         "{temperature}.",
                         arguments)
                   : message(
                         "“{token}” has more than {probability} at every temperature: at most {highest}, at "
                         "temperature {temperature}.",
                         arguments);
    }
    arguments.push_back({"temperature", said(found.reached_at.front())});
    if (found.reached_at.size() == 1)
        return message("“{token}” reaches {probability} at temperature {temperature}.", arguments);
    arguments.push_back({"second", said(found.reached_at.back())});
    return message("“{token}” reaches {probability} at temperature {temperature}, and again at {second}.", arguments);
}

}  // namespace decoderscope::core::generate
