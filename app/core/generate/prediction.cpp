#include "app/core/generate/prediction.h"

#include "app/core/generate/generator.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace decoderscope::core::generate {

namespace {

// How many logits a slice reads.
constexpr Index kSlice = 2'000'000;

// What the row's targets ask for at this position, nothing if it is negative (−100: left out); without targets the
// token that follows.
std::optional<Index> next_in(const Inputs& inputs, Index row, Index position) {
    if (!inputs.targets.empty()) {
        const float target = inputs.targets.at(Cell{row, position});
        return target < 0.0F ? std::nullopt : std::optional(static_cast<Index>(target));
    }
    return token_ahead(inputs, row, position);
}

// The logits of one position, [vocab]; empty if the run has none there.
std::span<const float> logits_at(const Tensor& logits, Index batch, Index position) {
    if (logits.rank() != 3 || batch >= logits.dim(0) || position >= logits.dim(1)) return {};
    return logits.row({batch, position, 0});
}

// The logarithm of the sum of the exponentials, in double precision; NaN if there is nothing to compare.
double log_of_sum(std::span<const float> logits) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (const float logit : logits) {
        if (std::isnan(logit)) return std::numeric_limits<double>::quiet_NaN();
        most = std::max(most, static_cast<double>(logit));
    }
    if (!std::isfinite(most)) return std::numeric_limits<double>::quiet_NaN();
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
    return most + std::log(sum);
}

}  // namespace

bool predicts_tokens(const Scenario& scenario) {
    return scenario.tokenizer().size() > 0 && !scenario.inputs.tokens.empty() && generation_obstacle(scenario).empty();
}

Resumable<Predictions> predictions_of(std::shared_ptr<const Run> run, Inputs inputs) {
    const Tensor logits = run->value("logits");  // [batch, pos, vocab]
    if (logits.rank() != 3) co_return Predictions{};
    if (!logits.is_ready()) co_yield kPause;  // the first positions may still be computed
    Predictions made{.batch = logits.dim(0), .pos = logits.dim(1)};
    Index read = 0;
    for (Index row = 0; row < made.batch; ++row) {
        for (Index position = 0; position < made.pos; ++position) {
            Prediction at;
            at.is_padding = is_padding(inputs.attention_mask, row, position);
            if (!at.is_padding) {
                ++made.made;
                at.token = predicted_token(logits_at(logits, row, position));
                at.target = next_in(inputs, row, position);
            }
            made.judged += at.is_judged() ? 1 : 0;
            made.right += at.is_right() ? 1 : 0;
            made.all.push_back(at);
            if ((read += logits.dim(2)) < kSlice) continue;
            read = 0;
            co_yield kPause;
        }
    }
    co_return made;
}

Value<Predictions> shown_predictions(Derived& derived, const Scenario& scenario,
                                     const std::shared_ptr<const Run>& run) {
    if (!predicts_tokens(scenario)) return {};
    return derived.later<Predictions>({run}, std::tuple<>(),
                                      [&] { return predictions_of(run, inputs_of_shown(scenario)); });
}

std::string percent_text(double probability) {
    if (!std::isfinite(probability)) return "NaN";
    const double percent = probability * 100.0;
    return tr("{percent} %", {{"percent", short_number_text(percent, percent < 10.0 ? 1 : 2)}});
}

std::vector<Answer> likely_answers(const Run& run, Index batch, Index position, std::size_t most) {
    const std::span<const float> logits = logits_at(run.value("logits"), batch, position);
    const double sum = log_of_sum(logits);
    if (std::isnan(sum)) return {};
    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
    std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    std::vector<Answer> answers;
    std::transform(order.begin(), end, std::back_inserter(answers), [&](std::size_t id) {
        return Answer{static_cast<Index>(id), std::exp(static_cast<double>(logits[id]) - sum)};
    });
    return answers;
}

double probability_of(const Run& run, Index batch, Index position, Index token) {
    const std::span<const float> logits = logits_at(run.value("logits"), batch, position);
    if (token < 0 || static_cast<std::size_t>(token) >= logits.size()) return 0.0;
    return std::exp(static_cast<double>(logits[static_cast<std::size_t>(token)]) - log_of_sum(logits));
}

Value<ShownAnswer> shown_answer(Derived& derived, const std::shared_ptr<const Run>& run, Index batch, Index position,
                                std::optional<Index> target) {
    constexpr std::size_t few = 5;
    return derived.get<ShownAnswer>({run}, std::make_tuple(batch, position, target), [&] {
        ShownAnswer made{likely_answers(*run, batch, position, few), std::nullopt};
        if (target) made.target = Answer{*target, probability_of(*run, batch, position, *target)};
        return made;
    });
}

std::optional<NextAnswer> next_answer(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                      Index batch) {
    const Value<Predictions> made = shown_predictions(derived, scenario, run);
    if (!made) return std::nullopt;
    const Index row = std::min(batch, made->batch - 1), last = made->last(row);
    const Prediction& prediction = made->row(row)[static_cast<std::size_t>(last)];
    return NextAnswer{row, last, shown_answer(derived, run, row, last, prediction.target)};
}

}  // namespace decoderscope::core::generate
