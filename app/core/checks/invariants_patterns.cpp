#include "app/core/checks/invariants_laws.h"
#include "app/core/text/counting.h"
#include "engine/message.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope {

namespace {

// The weights of a row are rounded to float one by one, each by at most 6e-8 of itself, so together by no more than
// that. The sum they were divided by is allowed the same error again, with some margin.
constexpr double kAllowedOfSums = 1e-5;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = std::span<const float>;

// How far a row's sum is from 1; NaN if the sum is.
double off_one(Row weights) {
    double sum = 0.0;
    for (const float weight : weights) sum += static_cast<double>(weight);
    return std::abs(sum - 1.0);
}

// The expected softmax of a row; all NaN if the row has nothing to give weight to.
std::vector<double> softmax(Row scores) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (const float score : scores) highest = std::max(highest, static_cast<double>(score));
    std::vector<double> weights;
    for (const float score : scores) sum += weights.emplace_back(std::exp(static_cast<double>(score) - highest));
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Whether the softmax must give NaN: nothing is left to attend to, or a score is already NaN or +∞.
bool known_to_be_nan(Row scores) { return std::isnan(softmax(scores).front()); }

// The weight that is furthest from what the scores give.
Index furthest_off(Row weights, Row scores) {
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
        off += deviation <= kAllowedOfSums ? 0 : 1;
        const bool further = in == nullptr || deviation > furthest || (std::isnan(deviation) && !std::isnan(furthest));
        if (!further || std::isnan(furthest)) return;
        furthest = deviation;
        in = &pattern;
        row = number;
    }
};

void look_at(const PatternStep& pattern, Reader& read_weights, Reader& read_scores, PatternRows& rows) {
    const auto width = static_cast<std::size_t>(pattern.weights.axes().back().size);
    const Row weights = read_weights(pattern.weights);
    Row scores;  // read only if a row is NaN
    for (std::size_t row = 0; row * width < weights.size(); ++row) {
        const double deviation = off_one(weights.subspan(row * width, width));
        if (std::isnan(deviation) && scores.empty()) scores = read_scores(pattern.masked_scores);
        if (std::isnan(deviation) && known_to_be_nan(scores.subspan(row * width, width)))
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
        return message_n("{count} of {rows} of {patterns} does not; one is NaN though its scores are numbers.",
                         "{count} of {rows} of {patterns} do not; one is NaN though its scores are numbers.", rows.off,
                         {{"rows", all}, {"patterns", of}});
    return message_n("{count} of {rows} of {patterns} does not; the worst sums to {sum}.",
                     "{count} of {rows} of {patterns} do not; the worst sums to {sum}.", rows.off,
                     {{"rows", all}, {"patterns", of}, {"sum", measure_text(sum)}});
}

// Rows that can't sum to 1, and why.
Sentence nan_by_right(const PatternRows& rows) {
    if (rows.known == 0) return {};
    return message_n("{count} row is NaN, as must be: nothing is left to attend to, or a score was NaN or infinite.",
                     "{count} rows are NaN, as must be: nothing is left to attend to, or a score was NaN or infinite.",
                     rows.known, {{"count", grouped(static_cast<Index>(rows.known))}});
}

// Records the row that deviates most: its step, and its cell that is furthest from what the scores give.
double point_at(const PatternRows& rows, Invariant& invariant) {
    const auto width = static_cast<std::size_t>(rows.in->weights.axes().back().size);
    Reader read_weights, read_scores;
    const Row weights = read_weights(rows.in->weights).subspan(rows.row * width, width);
    const Row scores = read_scores(rows.in->masked_scores).subspan(rows.row * width, width);
    invariant.step = rows.in->step.name;
    invariant.cell = rows.in->weights.cell(static_cast<Index>(rows.row * width) + furthest_off(weights, scores));
    double sum = 0.0;
    for (const float weight : weights) sum += static_cast<double>(weight);
    return sum;
}

}  // namespace

Resumable<Invariant> measure_pattern_rows(const Run& run) {
    Invariant invariant{.law = Law::pattern_rows};
    const std::vector<PatternStep> patterns = patterns_of(run);
    PatternRows rows;
    Reader read_weights, read_scores;
    for (const PatternStep& pattern : patterns) {
        co_yield kPause;
        look_at(pattern, read_weights, read_scores, rows);
    }
    const double sum = rows.in != nullptr ? point_at(rows, invariant) : kNaN;
    invariant.verdict = rows.off > 0 ? Verdict::broken : Verdict::kept;
    invariant.measured = rows.furthest;
    invariant.checked = rows.checked + rows.known;
    invariant.finding = finding_of(rows, patterns.size(), sum);
    invariant.besides = nan_by_right(rows);
    co_return invariant;
}

}  // namespace decoderscope
