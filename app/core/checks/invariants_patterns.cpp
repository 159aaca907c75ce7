#include "app/core/checks/invariants.h"
#include "app/core/text/numbers.h"
#include "engine/base/message.h"
#include "engine/tensor/arithmetic.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace decoderscope::core::checks {

namespace {

// How far a row's sum may be from 1. Its weights are rounded one by one, each by at most half an ulp of itself, so
// together by half an ulp of 1; where the type has no smaller numbers, by half of the smallest each. The sum that they
// were divided by is allowed an error in float32, with some margin.
double allowed_of_sums(const PatternStep& pattern) {
    const Arithmetic type = pattern.step.operation.arithmetic();
    const auto keys = static_cast<double>(pattern.weights.axes().back().size);
    return 1e-5 + (type == Arithmetic::float32 ? 0.0 : 0.5 * (ulp_at(1.0, type) + keys * ulp_at(0.0, type)));
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// How far a row's sum is from 1; NaN if the sum is.
double off_one(row::In weights) {
    double sum = 0.0;
    for (const float weight : weights) sum += static_cast<double>(weight);
    return std::abs(sum - 1.0);
}

// The expected softmax of a row; all NaN if the row has nothing to give weight to.
std::vector<double> softmax(row::In scores) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (const float score : scores) highest = std::max(highest, static_cast<double>(score));
    std::vector<double> weights;
    for (const float score : scores) sum += weights.emplace_back(std::exp(static_cast<double>(score) - highest));
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Whether the softmax must give NaN: nothing is left to attend to, or a score is already NaN or +∞.
bool known_to_be_nan(row::In scores) { return std::isnan(softmax(scores).front()); }

// The weight that is furthest from what the scores give.
Index furthest_off(row::In weights, row::In scores) {
    const std::vector<double> expected = softmax(scores);
    Index found = 0;
    double furthest = -1.0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const double off = std::abs(static_cast<double>(weights[k]) - expected[k]);
        const double rank = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
        if (rank <= furthest) continue;
        furthest = rank;
        found = static_cast<Index>(k);
    }
    return found;
}

// What is known of the rows measured so far.
struct PatternRows {
    std::size_t checked = 0, known = 0, off = 0;
    double furthest = 0.0;  // NaN counts as furthest
    const PatternStep* in = nullptr;
    std::size_t row = 0;

    void add(const PatternStep& pattern, std::size_t number, double deviation) {
        ++checked;
        off += deviation <= allowed_of_sums(pattern) ? 0 : 1;
        const bool further = in == nullptr || deviation > furthest || (std::isnan(deviation) && !std::isnan(furthest));
        if (!further || std::isnan(furthest)) return;
        furthest = deviation;
        in = &pattern;
        row = number;
    }
};

// A pattern's rows and their scores, each with the sink's behind the keys', if there is one.
class Rows {
public:
    explicit Rows(const PatternStep& pattern) : pattern_(pattern) {}

    [[nodiscard]] std::size_t count() { return weights().size() / width_; }
    // Valid until the next row is asked for.
    [[nodiscard]] row::In weights_of(std::size_t row) {
        return with_sink(weights().subspan(row * width_, width_), pattern_.sink, row, weights_and_sink_);
    }
    [[nodiscard]] row::In scores_of(std::size_t row) {
        if (scores_.empty()) scores_ = read_scores_(pattern_.masked_scores);
        const auto heads = static_cast<std::size_t>(pattern_.weights.dim(1)),
                   queries = static_cast<std::size_t>(pattern_.weights.dim(2));
        return with_sink(scores_.subspan(row * width_, width_), pattern_.sinks, row / queries % heads,
                         scores_and_sink_);
    }

private:
    [[nodiscard]] row::In weights() {
        if (weights_.empty()) weights_ = read_weights_(pattern_.weights);
        return weights_;
    }
    [[nodiscard]] static row::In with_sink(row::In keys, const Tensor& sink, std::size_t at, std::vector<float>& room) {
        if (sink.empty()) return keys;
        room.assign(keys.begin(), keys.end());
        room.push_back(sink.values()[at]);
        return room;
    }

    const PatternStep& pattern_;
    std::size_t width_ = static_cast<std::size_t>(pattern_.weights.axes().back().size);
    Reader read_weights_, read_scores_;
    row::In weights_, scores_;
    std::vector<float> weights_and_sink_, scores_and_sink_;
};

void look_at(const PatternStep& pattern, PatternRows& rows) {
    Rows all(pattern);
    for (std::size_t row = 0; row < all.count(); ++row) {
        const double deviation = off_one(all.weights_of(row));
        if (std::isnan(deviation) && known_to_be_nan(all.scores_of(row)))
            ++rows.known;
        else
            rows.add(pattern, row, deviation);
    }
}

Sentence finding_of(const PatternRows& rows, std::size_t patterns, double sum) {
    if (rows.checked == 0) return message("Every row is NaN.");
    const Sentence all = counted_rows(rows.checked), of = message_n("{count} pattern", "{count} patterns", patterns);
    if (rows.off == 0)
        return message("{rows} of {patterns}; the furthest from 1 is off by {off}.",
                       {{"rows", all}, {"patterns", of}, {"off", measure_text(rows.furthest)}});
    if (std::isnan(rows.furthest))
        return message_n("{count} of {rows} of {patterns} does not sum to 1; one is NaN although its scores are valid.",
                         "{count} of {rows} of {patterns} do not sum to 1; one is NaN although its scores are valid.",
                         rows.off, {{"rows", all}, {"patterns", of}});
    return message_n("{count} of {rows} of {patterns} does not sum to 1; the worst sums to {sum}.",
                     "{count} of {rows} of {patterns} do not sum to 1; the worst sums to {sum}.", rows.off,
                     {{"rows", all}, {"patterns", of}, {"sum", measure_text(sum)}});
}

// Rows that can't sum to 1, and why.
Sentence nan_by_right(const PatternRows& rows) {
    if (rows.known == 0) return {};
    return message_n("{count} row is NaN, as it must be: every key is masked, or a score is NaN or infinite.",
                     "{count} rows are NaN, as they must be: every key is masked, or a score is NaN or infinite.",
                     rows.known, {{"count", grouped(static_cast<Index>(rows.known))}});
}

// Records the row that deviates most: its step, and its cell that is furthest from what the scores give.
double point_at(const PatternRows& rows, Invariant& invariant) {
    Rows all(*rows.in);
    const row::In weights = all.weights_of(rows.row);
    const Index keys = rows.in->weights.axes().back().size, furthest = furthest_off(weights, all.scores_of(rows.row));
    invariant.step = rows.in->step.name;
    invariant.cell = rows.in->weights.cell(static_cast<Index>(rows.row) * keys + std::min(furthest, keys - 1));
    double sum = 0.0;
    for (const float weight : weights) sum += static_cast<double>(weight);
    return sum;
}

// Whether a number is the lowest that a type has: the next one is −∞.
bool is_lowest(float number, Arithmetic type) {
    const auto below = static_cast<double>(number) - ulp_at(static_cast<double>(number), type);
    return std::isinf(rounded(static_cast<float>(below), type));
}

// What is known of the masked weights read so far.
struct Masked {
    std::size_t checked = 0, not_zero = 0;
    double largest = 0.0;
    const PatternStep* in = nullptr;
    std::size_t at = 0;
    std::size_t blind = 0;       // rows without a kept key that a finite fill gives weights
    std::optional<double> fill;  // the last one that a score can be close to

    // NaN is skipped: it affects its whole row, and is left to the law about rows.
    void look_at(const PatternStep& pattern, std::span<const float> weights, std::span<const float> mask) {
        const bool finite = std::isfinite(pattern.fill);
        if (finite && !is_lowest(pattern.fill, pattern.step.operation.arithmetic()))
            fill = static_cast<double>(pattern.fill);
        const auto width = static_cast<std::size_t>(pattern.weights.axes().back().size);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (finite && i % width == 0 &&
                std::ranges::all_of(mask.subspan(i, width), [](float kept) { return kept == 0.0F; })) {
                ++blind;
                i += width - 1;
                continue;
            }
            if (mask[i] != 0.0F || std::isnan(weights[i])) continue;
            ++checked;
            const double weight = std::abs(static_cast<double>(weights[i]));
            not_zero += weight != 0.0 ? 1 : 0;
            if (in != nullptr && weight <= largest) continue;
            largest = weight;
            in = &pattern;
            at = i;
        }
    }
};

Verdict verdict_of(const Masked& masked) {
    if (masked.checked == 0 || masked.fill) return Verdict::open;
    return masked.not_zero > 0 ? Verdict::broken : Verdict::kept;
}

Sentence counted_weights(std::size_t count) {
    return message_n("{count} masked weight", "{count} masked weights", count,
                     {{"count", grouped(static_cast<Index>(count))}});
}

// Rows in which hidden keys weigh something by right, and why.
Sentence blind_by_right(const Masked& masked) {
    if (masked.blind == 0) return {};
    return message_n(
        "{count} row is left out, whose query sees no key: under a finite fill it weighs all keys alike.",
        "{count} rows are left out, whose queries see no key: under a finite fill they weigh all keys alike.",
        masked.blind, {{"count", grouped(static_cast<Index>(masked.blind))}});
}

Sentence finding_of(const Masked& masked) {
    if (masked.checked == 0) return message("Nothing is masked, or all of it is NaN.");
    const Sentence all = counted_weights(masked.checked);
    const std::string largest = measure_text(masked.largest);
    if (masked.fill)
        return message("The fill is {fill}, not −∞, which guarantees nothing: the largest of {weights} is {largest}.",
                       {{"fill", measure_text(*masked.fill)}, {"weights", all}, {"largest", largest}});
    if (masked.not_zero == 0) return message("The largest of {weights} is 0.", {{"weights", all}});
    return message_n("{count} of {weights} is not 0; the largest is {largest}.",
                     "{count} of {weights} are not 0; the largest is {largest}.", masked.not_zero,
                     {{"weights", all}, {"largest", largest}});
}

}  // namespace

Resumable<Invariant> measure_pattern_rows(const Run& run) {
    Invariant invariant{.law = Law::pattern_rows};
    // What an attention sink takes has no key: with it, too, a row sums to 1.
    std::vector<PatternStep> patterns;
    for (const PatternStep& pattern : patterns_of(run))
        if (pattern.step.operation.traits().sums_to_one || !pattern.sink.empty()) patterns.push_back(pattern);
    if (patterns.empty()) {
        invariant.finding = message("No pattern's rows are meant to sum to 1.");
        co_return invariant;
    }
    PatternRows rows;
    for (const PatternStep& pattern : patterns) {
        co_yield kPause;
        look_at(pattern, rows);
    }
    const double sum = rows.in != nullptr ? point_at(rows, invariant) : kNaN;
    invariant.verdict = rows.off > 0 ? Verdict::broken : Verdict::kept;
    invariant.measured = rows.furthest;
    invariant.checked = rows.checked + rows.known;
    invariant.finding = finding_of(rows, patterns.size(), sum);
    invariant.besides = nan_by_right(rows);
    co_return invariant;
}

Resumable<Invariant> measure_masked_weights(const Run& run) {
    Invariant invariant{.law = Law::masked_weights};
    const std::vector<PatternStep> patterns = patterns_of(run);
    Masked masked;
    Reader read_weights, read_mask;
    for (const PatternStep& pattern : patterns) {
        co_yield kPause;
        masked.look_at(pattern, read_weights(pattern.weights), read_mask(pattern.mask));
    }
    invariant.verdict = verdict_of(masked);
    invariant.measured = masked.largest;
    invariant.checked = masked.checked;
    invariant.finding = finding_of(masked);
    invariant.besides = blind_by_right(masked);
    if (masked.in == nullptr) co_return invariant;
    invariant.step = masked.in->step.name;
    invariant.cell = masked.in->weights.cell(static_cast<Index>(masked.at));
    co_return invariant;
}

}  // namespace decoderscope::core::checks
