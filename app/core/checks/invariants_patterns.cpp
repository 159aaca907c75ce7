#include "app/core/checks/invariants_laws.h"
#include "app/core/text/counting.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope {

namespace {

// The weights of a row are rounded to float one by one, each by 6e-8 of itself at most: together by no more than that.
// The sum that they were divided by is allowed as much again, and then some.
constexpr double kAllowed = 1e-5;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = std::span<const float>;

// How far a row's sum is from 1; NaN where it is none.
double off_one(Row weights) {
    double sum = 0.0;
    for (const float weight : weights) sum += static_cast<double>(weight);
    return std::abs(sum - 1.0);
}

// The softmax of a row as it should be; all NaN where the row has nothing to give weight to.
std::vector<double> softmax(Row scores) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (const float score : scores) highest = std::max(highest, static_cast<double>(score));
    std::vector<double> weights;
    for (const float score : scores) sum += weights.emplace_back(std::exp(static_cast<double>(score) - highest));
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Whether the softmax can but give NaN: nothing is left to attend to, or a score is NaN or +∞ already.
bool known_to_be_nan(Row scores) { return std::isnan(softmax(scores).front()); }

// The weight that is furthest from what the scores say.
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

// What is known of the rows that were looked at.
struct Rows {
    std::size_t checked = 0, known = 0, off = 0;
    double furthest = 0.0;  // NaN before all
    const PatternStep* in = nullptr;
    std::size_t row = 0;

    void add(const PatternStep& pattern, std::size_t number, double deviation) {
        ++checked;
        off += deviation <= kAllowed ? 0 : 1;
        const bool further = in == nullptr || deviation > furthest || (std::isnan(deviation) && !std::isnan(furthest));
        if (!further || std::isnan(furthest)) return;
        furthest = deviation;
        in = &pattern;
        row = number;
    }
};

void look_at(const PatternStep& pattern, Reader& read_weights, Reader& read_scores, Rows& rows) {
    const auto width = static_cast<std::size_t>(pattern.weights.axes().back().size);
    const Row weights = read_weights(pattern.weights);
    Row scores;  // read only where a row is NaN
    for (std::size_t row = 0; row * width < weights.size(); ++row) {
        const double deviation = off_one(weights.subspan(row * width, width));
        if (std::isnan(deviation) && scores.empty()) scores = read_scores(pattern.masked_scores);
        if (std::isnan(deviation) && known_to_be_nan(scores.subspan(row * width, width)))
            ++rows.known;
        else
            rows.add(pattern, row, deviation);
    }
}

std::string finding_of(const Rows& rows, std::size_t patterns, double sum) {
    const std::string known =
        rows.known == 0 ? ""
                        : " " + counted(rows.known, "row") + (rows.known == 1 ? " is" : " are") +
                              " NaN, as must be: nothing is left to attend to, or a score was NaN or infinite.";
    if (rows.checked == 0) return "Every row is NaN." + known;
    const std::string all = counted(rows.checked, "row") + " of " + counted(patterns, "pattern");
    if (rows.off == 0) return all + "; the furthest from 1 is off by " + measure_text(rows.furthest) + "." + known;
    const std::string worst = std::isnan(rows.furthest) ? "one is NaN though its scores are numbers"
                                                        : "the worst sums to " + measure_text(sum);
    return std::to_string(rows.off) + " of " + all + " " + (rows.off == 1 ? "does" : "do") + " not; " + worst + "." +
           known;
}

// Puts down the row that stands out: its step, and the cell of it that is furthest from what the scores say.
double point_at(const Rows& rows, Invariant& invariant) {
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
    Rows rows;
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
    co_return invariant;
}

}  // namespace decoderscope
