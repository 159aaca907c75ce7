#include "app/core/generate/sampling.h"

#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

bool can_be_drawn_from(std::span<const float> logits) {
    bool any = false;
    for (const float logit : logits) {
        if (std::isnan(logit) || logit == std::numeric_limits<float>::infinity()) return false;
        any = any || std::isfinite(logit);
    }
    return any;
}

// Softmax of the candidates' logits over a temperature; the first is the largest.
std::vector<double> softmax(const std::vector<Candidate>& candidates, double temperature) {
    const auto largest = static_cast<double>(candidates.front().logit);
    std::vector<double> weights;
    double sum = 0.0;
    for (const Candidate& candidate : candidates) {
        weights.push_back(std::exp((static_cast<double>(candidate.logit) - largest) / temperature));
        sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Removes the candidates from `kept` to `before` from the draw, and scales the rest to sum to 1. Returns the removed
// mass.
double cut(std::vector<Candidate>& candidates, std::size_t kept, std::size_t before, RemovedBy by) {
    double mass = 0.0, rest = 0.0;
    for (std::size_t i = kept; i < before; ++i) {
        mass += std::exchange(candidates[i].after, 0.0);
        candidates[i].removed_by = by;
    }
    for (std::size_t i = 0; i < kept; ++i) rest += candidates[i].after;
    for (std::size_t i = 0; i < kept; ++i) candidates[i].after /= rest;
    return mass;
}

std::size_t kept_by_top_k(const std::vector<Candidate>& candidates, Index k) {
    auto kept = std::min(static_cast<std::size_t>(k), candidates.size());
    while (kept < candidates.size() && candidates[kept].logit == candidates[kept - 1].logit) ++kept;
    return kept;
}

std::size_t kept_by_top_p(const std::vector<Candidate>& candidates, std::size_t among, double p) {
    double sum = 0.0;
    std::size_t kept = 0;
    while (kept < among && (kept == 0 || sum < p)) sum += candidates[kept++].after;
    return kept;
}

std::vector<Candidate> sorted_candidates(std::span<const float> logits) {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < logits.size(); ++i)
        candidates.push_back({.token = static_cast<Index>(i), .logit = logits[i]});
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
    return candidates;
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

void check_sampling(const Sampling& sampling) {
    check_within("temperature", sampling.temperature, bounds::kTemperature);
    check_within("top_k", sampling.top_k, bounds::kTopK);
    check_within("top_p", sampling.top_p, bounds::kTopP);
}

std::optional<NextToken> next_token(std::span<const float> logits, const Sampling& sampling) {
    if (!can_be_drawn_from(logits)) return std::nullopt;
    NextToken next;
    std::vector<Candidate>& candidates = next.candidates = sorted_candidates(logits);
    const std::vector<double> before = softmax(candidates, 1.0);
    const bool greedy = sampling.temperature == 0.0;
    const std::vector<double> warm = greedy ? before : softmax(candidates, sampling.temperature);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        candidates[i].before = before[i];
        candidates[i].after = warm[i];
    }
    next.kept = candidates.size();
    const auto keep = [&](std::size_t kept, RemovedBy by) {
        return cut(candidates, kept, std::exchange(next.kept, kept), by);
    };
    if (greedy) {
        next.cut_by_temperature = keep(1, RemovedBy::temperature);
        return next;
    }
    if (sampling.top_k > 0) next.cut_by_top_k = keep(kept_by_top_k(candidates, sampling.top_k), RemovedBy::top_k);
    if (sampling.top_p < 1.0)
        next.cut_by_top_p = keep(kept_by_top_p(candidates, next.kept, sampling.top_p), RemovedBy::top_p);
    return next;
}

std::optional<Index> greedy_token(std::span<const float> logits) {
    if (!can_be_drawn_from(logits)) return std::nullopt;
    return std::ranges::max_element(logits) - logits.begin();
}

double sampling_number(std::uint64_t seed, Index row, Index position) {
    return RandomStream(seed, "next_token." + std::to_string(row)).uniform(static_cast<std::uint64_t>(position));
}

Draw draw(const NextToken& next, double number) {
    Draw drawn;
    for (std::size_t i = 0; i < next.kept; ++i) {
        const double width = next.candidates[i].after;
        if (width <= 0.0) continue;  // a logit of −∞ is never drawn, even if rounding leaves a gap at the end
        drawn = {i, drawn.to, drawn.to + width};
        if (number < drawn.to) break;
    }
    return drawn;
}

}  // namespace decoderscope::core::generate
