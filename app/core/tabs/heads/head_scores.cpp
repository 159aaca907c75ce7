#include "app/core/tabs/heads/head_scores.h"

#include "app/core/run/slice.h"
#include "app/core/run/step_picture.h"
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
    void add(const Row& row, std::span<const std::uint8_t> padding) {
        for (const float weight : row.weights) reach(weight);
        if (!counts(padding, row)) return;
        const RowMeasures values = measured_row(row);
        for (std::size_t i = 0; i < means_.size(); ++i) means_[i].add(values[i]);
    }
    void reach(float weight) {
        if (weight > highest_ && std::isfinite(weight)) highest_ = weight;
    }
    [[nodiscard]] PatternMeasures values() const {
        PatternMeasures values{};
        std::transform(means_.begin(), means_.end(), values.begin(), [](const Mean& mean) { return mean.value(); });
        return values;
    }
    [[nodiscard]] float highest() const { return highest_; }

private:
    std::array<Mean, kPatternMeasures.size()> means_;
    float highest_ = 0.0F;
};

// How many keys each query of each head sees, [head][query]; empty where the mask has no row of its own for each.
std::vector<std::vector<Index>> seen_keys(const Run& run, const Step& pattern, Index batch) {
    const Tensor& mask = run.value(pattern.attention, AttentionStep::mask);
    std::vector<std::vector<Index>> seen(static_cast<std::size_t>(pattern.axes[1].size));
    if (mask.axes() != pattern.axes) return seen;
    const bool alike = hidden_alike(run.plan(), pattern);
    each_in_parallel(alike ? 1 : std::ssize(seen), mask.dim(2) * mask.dim(3), [&](Index head) {
        MaskRows rows(mask);
        std::vector<Index>& of_head = seen[static_cast<std::size_t>(head)];
        for (Index query = 0; query < mask.dim(2); ++query)
            of_head.push_back(
                std::ranges::count_if(rows.row(batch, head, query), [](float kept) { return kept != 0.0F; }));
    });
    if (alike) std::fill(seen.begin() + 1, seen.end(), std::vector<Index>(seen.front()));
    return seen;
}

constexpr Index kCost = 20;  // of one weight, in multiply-adds

}  // namespace

double measured(const Pattern& pattern, PatternMeasure measure) {
    return measured(pattern)[static_cast<std::size_t>(measure)];
}

PatternMeasures measured(const Pattern& pattern) {
    Measuring measuring;
    for (Index query = 0; query < pattern.queries; ++query) measuring.add(row_of(pattern, query), pattern.padding);
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

Habit habit_of(const HeadScore& score) {
    // In a short text an even head, too, has much weight on each of the three.
    constexpr double least = 0.3, even = 0.9;
    if (score.value(PatternMeasure::spread) > even) return {std::nullopt, tr("all alike")};
    std::optional<PatternMeasure> habit;
    for (const PatternMeasure measure : {PatternMeasure::previous, PatternMeasure::first, PatternMeasure::diagonal})
        if (score.value(measure) > (habit ? score.value(*habit) : least)) habit = measure;
    if (habit == PatternMeasure::previous) return {habit, tr("the token before")};
    if (habit == PatternMeasure::first) return {habit, tr("the first token")};
    return {habit, habit ? tr("the token itself") : tr("mixed")};
}

Resumable<std::vector<HeadScore>> head_scores(Inputs inputs, std::shared_ptr<const Run> run, AttentionKind kind,
                                              Index batch, std::shared_ptr<const Run> earlier,
                                              std::vector<HeadScore> known) {
    const std::vector<std::uint8_t> padding = padded_queries(inputs, kind, batch);
    const auto shared = [&](const auto&... which) {
        return earlier != nullptr && run->value(which...).shares_values_with(earlier->value(which...));
    };
    const bool same_padding = shared("attention_mask") && shared("encoder_attention_mask");
    std::vector<HeadScore> scores;
    for (const std::string& attention : attentions_of_kind(run->plan(), kind)) {
        if (same_padding && shared(attention, AttentionStep::pattern) && shared(attention, AttentionStep::mask)) {
            std::copy_if(known.begin(), known.end(), std::back_inserter(scores),
                         [&](const HeadScore& score) { return score.attention == attention; });
            continue;
        }
        const Step& step = *run->plan().step_of(attention, AttentionStep::pattern);
        const Tensor& pattern = run->value(step.id);
        const Index heads = pattern.dim(1), queries = pattern.dim(2), keys = pattern.dim(3);
        const bool many = heads * queries * keys > kMeasuredAtOnce;
        if (many) co_yield kPause;
        std::vector<Measuring> measuring(static_cast<std::size_t>(heads));
        const std::vector<std::vector<Index>> seen = seen_keys(*run, step, batch);
        const Index kept = kind == AttentionKind::self ? keys - queries : 0;
        const ByRows* by_rows = pattern.by_rows();
        const Index at_once = by_rows != nullptr ? by_rows->at_once : queries;
        for (Index first = 0; first < queries; first += at_once) {
            if (many) co_yield kPause;
            const Index count = std::min(at_once, queries - first);
            const Tensor rows =
                by_rows != nullptr ? some_rows(pattern, first, count) : pattern;  // [batch, head, query, key]
            for_each_piece(rows, [&](Index place, std::span<const float> piece) {
                each_in_parallel(heads, std::ssize(piece) / heads * kCost, [&](Index head) {
                    const auto of = static_cast<std::size_t>(head);
                    const Index begin = (batch * heads + head) * count * keys, end = begin + count * keys;
                    for (Index at = std::max(place, begin); at < std::min(place + std::ssize(piece), end); at += keys) {
                        const Index query = first + (at - begin) / keys;
                        measuring[of].add(
                            {query, kept + query,
                             piece.subspan(static_cast<std::size_t>(at - place), static_cast<std::size_t>(keys)),
                             seen[of].empty() ? keys : seen[of][static_cast<std::size_t>(query)]},
                            padding);
                    }
                });
            });
        }
        const Ref sink = sink_beside(*run, step);
        for (Index head = 0; head < heads; ++head) {
            Measuring& of_head = measuring[static_cast<std::size_t>(head)];
            for (Index query = 0; sink != nullptr && query < queries; ++query)
                of_head.reach(run->value(sink->id).at(Cell{batch, head, query, 0}));
            scores.push_back({attention, step.layer, head, keys, of_head.values(), of_head.highest()});
        }
    }
    co_return scores;
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
