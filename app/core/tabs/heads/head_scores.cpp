#include "app/core/tabs/heads/head_scores.h"

#include "app/core/run/slice.h"
#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace decoderscope::core::heads {

namespace {

// A query's row of the pattern.
struct Row {
    Index query, own_key;
    std::span<const float> weights;
    Index seen;  // keys
};

Row row_of(const Pattern& pattern, Index query) {
    const auto keys = static_cast<std::size_t>(pattern.keys), row = static_cast<std::size_t>(query);
    return {query, pattern.kept + query, pattern.weights.subspan(row * keys, keys),
            pattern.seen.empty() ? pattern.keys : pattern.seen[row]};
}

bool counts(std::span<const std::uint8_t> padding, const Row& row) {
    if (!padding.empty() && padding[static_cast<std::size_t>(row.query)] != 0) return false;
    return std::none_of(row.weights.begin(), row.weights.end(), [](float weight) { return std::isnan(weight); });
}

// ---- the measures of one row; nothing if the row has none

std::optional<double> spread(const Row& row, double entropy_of_row) {
    if (row.seen < 2) return std::nullopt;
    return entropy_of_row / std::log2(static_cast<double>(row.seen));
}

double largest(const Row& row) {
    return static_cast<double>(*std::max_element(row.weights.begin(), row.weights.end()));
}

std::optional<double> weight_on(const Row& row, Index key) {
    if (key < 0 || key >= static_cast<Index>(row.weights.size())) return std::nullopt;
    return static_cast<double>(row.weights[static_cast<std::size_t>(key)]);
}

// Every measure of one row, in the order of kPatternMeasures.
using RowMeasures = std::array<std::optional<double>, kPatternMeasures.size()>;
RowMeasures measured_row(const Row& row) {
    const double bits = row::entropy(row.weights);
    return {bits,
            spread(row, bits),
            largest(row),
            weight_on(row, row.own_key - 1),
            weight_on(row, 0),
            weight_on(row, row.own_key)};
}

// The mean of the rows that have a value.
class Mean {
public:
    void add(std::optional<double> value) {
        if (!value) return;
        sum_ += *value;
        ++count_;
    }
    [[nodiscard]] double value() const {
        return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / count_;
    }

private:
    double sum_ = 0.0;
    int count_ = 0;
};

// The measures of a pattern whose rows come one after another.
class Measuring {
public:
    void add(const Row& row) {
        const RowMeasures values = measured_row(row);
        for (std::size_t i = 0; i < means_.size(); ++i) means_[i].add(values[i]);
    }
    [[nodiscard]] PatternMeasures values() const {
        PatternMeasures values{};
        std::transform(means_.begin(), means_.end(), values.begin(), [](const Mean& mean) { return mean.value(); });
        return values;
    }

private:
    std::array<Mean, kPatternMeasures.size()> means_;
};

// How many keys each query of a head sees.
std::vector<Index> seen_keys(const Tensor& mask, Index batch, Index head) {
    MaskRows rows(mask);
    std::vector<Index> seen;
    for (Index query = 0; query < mask.dim(2); ++query)
        seen.push_back(std::ranges::count_if(rows.row(batch, head, query), [](float kept) { return kept != 0.0F; }));
    return seen;
}

constexpr Index kCost = 20;  // of one weight, in multiply-adds

}  // namespace

double measured(const Pattern& pattern, PatternMeasure measure) {
    return measured(pattern)[static_cast<std::size_t>(measure)];
}

PatternMeasures measured(const Pattern& pattern) {
    Measuring measuring;
    for (Index query = 0; query < pattern.queries; ++query)
        if (const Row row = row_of(pattern, query); counts(pattern.padding, row)) measuring.add(row);
    return measuring.values();
}

double highest_possible(PatternMeasure measure, Index keys) {
    return measure == PatternMeasure::entropy ? std::log2(static_cast<double>(std::max<Index>(keys, 2))) : 1.0;
}

std::string_view measure_name(PatternMeasure measure) {
    static constexpr std::array<Phrase, kPatternMeasures.size()> kNames = {message("Entropy"), message("Spread"),
                                                                           message("Largest"), message("Previous"),
                                                                           message("First"),   message("Diagonal")};
    return tr(kNames[static_cast<std::size_t>(measure)]);
}

std::string_view measure_unit(PatternMeasure measure) { return measure == PatternMeasure::entropy ? "bits" : ""; }

std::string_view measure_sentence(PatternMeasure measure) {
    static constexpr std::array<Phrase, kPatternMeasures.size()> kSentences = {
        message("In bits: 0 = all weight on one key, 1 = like uniform over 2 keys, 2 = over 4."),
        message("Entropy divided by its maximum: 0 = one key, 1 = uniform over all visible keys."),
        message("The largest weight of a query: 1 = it attends to a single key."),
        message("The weight on the token just before: 1 = a head that attends one step back."),
        message("The weight on the first token, where idle heads often attend."),
        message("The weight on the key at the query's own position: 1 = it attends to itself.")};
    return tr(kSentences[static_cast<std::size_t>(measure)]);
}

std::vector<std::string> attentions_of_kind(const Plan& plan, AttentionKind kind) {
    std::vector<std::string> names;
    for (const Step& step : plan.steps())
        if (step.is_pattern && step.masked_by && !step.attention.empty() && kind_of_attention(step) == kind)
            names.push_back(step.attention);
    return names;
}

AttentionKind kind_of_attention(const Step& step) {
    if (step.in_encoder()) return AttentionKind::encoder;
    return step.part == Part::cross_attention ? AttentionKind::cross : AttentionKind::self;
}

AttentionKind kind_of_attention(const Plan& plan, const std::string& attention) {
    const Ref pattern = plan.step_of(attention, AttentionStep::pattern);
    return pattern == nullptr ? AttentionKind::self : kind_of_attention(*pattern);
}

std::vector<std::uint8_t> padded_queries(const Inputs& inputs, AttentionKind kind, Index batch) {
    const Tensor& mask = kind == AttentionKind::encoder ? inputs.encoder_attention_mask : inputs.attention_mask;
    if (mask.empty()) return {};
    std::vector<std::uint8_t> padding;
    for (Index query = 0; query < mask.dim(1); ++query) {
        const std::array cell = {batch, query};
        padding.push_back(mask.at(cell) == 0.0F ? 1 : 0);
    }
    return padding;
}

std::optional<PatternMeasure> habit_of(const HeadScore& score) {
    constexpr double least = 0.3;
    std::optional<PatternMeasure> habit;
    for (const PatternMeasure measure : {PatternMeasure::previous, PatternMeasure::first, PatternMeasure::diagonal})
        if (score.value(measure) > (habit ? score.value(*habit) : least)) habit = measure;
    return habit;
}

std::string_view habit_name(std::optional<PatternMeasure> habit) {
    if (habit == PatternMeasure::previous) return tr("the token before");
    if (habit == PatternMeasure::first) return tr("the first token");
    return habit ? tr("the token itself") : tr("mixed");
}

std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch) {
    return head_scores(inputs, run, kind, batch, Run(run.shared_plan()), {});
}

std::vector<HeadScore> head_scores(const Inputs& inputs, const Run& run, AttentionKind kind, Index batch,
                                   const Run& earlier, std::span<const HeadScore> known) {
    const std::vector<std::uint8_t> padding = padded_queries(inputs, kind, batch);
    const auto shared = [&](const auto&... which) {
        return run.value(which...).shares_values_with(earlier.value(which...));
    };
    const bool same_padding = shared("attention_mask") && shared("encoder_attention_mask");
    std::vector<HeadScore> scores;
    for (const std::string& attention : attentions_of_kind(run.plan(), kind)) {
        if (same_padding && shared(attention, AttentionStep::pattern) && shared(attention, AttentionStep::mask)) {
            std::copy_if(known.begin(), known.end(), std::back_inserter(scores),
                         [&](const HeadScore& score) { return score.attention == attention; });
            continue;
        }
        const Tensor& pattern = run.value(attention, AttentionStep::pattern);
        const Tensor& mask = run.value(attention, AttentionStep::mask);
        const Index layer = run.plan().step_of(attention, AttentionStep::pattern)->layer;
        const Index kept = kind == AttentionKind::self ? pattern.dim(3) - pattern.dim(2) : 0;
        const Index heads = pattern.dim(1), queries = pattern.dim(2), keys = pattern.dim(3);
        std::vector<Measuring> measuring(static_cast<std::size_t>(heads));
        std::vector<std::vector<Index>> seen(measuring.size());
        if (mask.axes() == pattern.axes())
            each_in_parallel(heads, queries * keys,
                             [&](Index head) { seen[static_cast<std::size_t>(head)] = seen_keys(mask, batch, head); });
        // A pattern that isn't kept is never whole in memory.
        for_each_piece(pattern, [&](Index first, std::span<const float> piece) {
            each_in_parallel(heads, std::ssize(piece) / heads * kCost, [&](Index head) {
                const auto of = static_cast<std::size_t>(head);
                const Index begin = (batch * heads + head) * queries * keys, end = begin + queries * keys;
                for (Index at = std::max(first, begin); at < std::min(first + std::ssize(piece), end); at += keys) {
                    const Index query = (at - begin) / keys;
                    const Row row = {
                        query, kept + query,
                        piece.subspan(static_cast<std::size_t>(at - first), static_cast<std::size_t>(keys)),
                        seen[of].empty() ? keys : seen[of][static_cast<std::size_t>(query)]};
                    if (counts(padding, row)) measuring[of].add(row);
                }
            });
        });
        for (Index head = 0; head < heads; ++head)
            scores.push_back({attention, layer, head, keys, measuring[static_cast<std::size_t>(head)].values()});
    }
    return scores;
}

std::vector<std::size_t> ordered(std::span<const HeadScore> scores, PatternMeasure measure, HeadOrder order) {
    std::vector<std::size_t> places(scores.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (order == HeadOrder::by_layer) return places;
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        const double first = scores[a].value(measure), second = scores[b].value(measure);
        if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
        return order == HeadOrder::highest_first ? first > second : first < second;
    });
    return places;
}

bool passes(const HeadScore& score, PatternMeasure measure, const HeadFilter& filter) {
    const double value = score.value(measure);
    if (filter.at_most)
        return !(value > filter.threshold) &&
               (!std::isnan(value) || filter.threshold >= highest_possible(measure, score.keys));
    return value >= filter.threshold || (std::isnan(value) && filter.threshold <= 0.0);
}

}  // namespace decoderscope::core::heads
