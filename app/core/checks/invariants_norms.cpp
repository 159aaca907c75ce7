#include "app/core/checks/invariants.h"
#include "app/core/text/numbers.h"
#include "engine/base/message.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core::checks {

namespace {

// The error that rounding may leave where gain and shift cost no precision.
constexpr double kAllowedOfNorms = 1e-5;

// A norm: what it read, what it divided by, and what came out.
struct Norm {
    const Step& step;        // …normalized
    const Step& scale_step;  // ….scale
    bool centred;            // LayerNorm subtracts the mean
    ScaleFacts facts;
    row::In x, scale, out;  // [batch, pos, d_model], [batch, pos, 1], [batch, pos, d_model]
    row::In weight, shift;  // [d_model]; both may be empty
    float gain_offset;      // added to the weight

    [[nodiscard]] double gain(std::size_t d) const {
        return weight.empty() ? 1.0 : static_cast<double>(gain_offset + weight[d]);
    }
    // The variance about the mean (or the mean square) that the scale is computed from, of the row divided by it.
    [[nodiscard]] double expected_variance(double of_scale) const {
        const auto n = static_cast<double>(width());
        const double root = facts.eps_outside ? of_scale - facts.eps : of_scale;
        const double under = facts.eps_outside ? root * root : root * root - facts.eps;
        return under * (facts.unbiased ? (n - 1.0) / n : 1.0) / (of_scale * of_scale);
    }

    [[nodiscard]] std::size_t width() const { return x.size() / scale.size(); }
    [[nodiscard]] row::In row(row::In of, std::size_t number) const { return of.subspan(number * width(), width()); }
};

struct Moments {
    double mean = 0.0, variance = 0.0;
};

template <class Numbers>
Moments moments_of(const Numbers& values, bool centred) {
    Moments moments;
    const auto n = static_cast<double>(values.size());
    for (const auto value : values) moments.mean += static_cast<double>(value) / n;
    if (!centred) moments.mean = 0.0;  // RMSNorm has the mean square in place of the variance
    for (const auto value : values) {
        const double off = static_cast<double>(value) - moments.mean;
        moments.variance += off * off / n;
    }
    return moments;
}

// One row's output before gain and shift, and how far it is from its expected values.
struct Measured {
    double off = 0.0, allowed = kAllowedOfNorms;
    double mean = 0.0, variance = 0.0;  // how far off these are
    bool of_scale = false;              // the scale itself is wrong
    std::size_t column = 0;             // the number furthest from its expected value

    [[nodiscard]] bool kept() const { return off <= allowed; }
};

// The relative error of the scale against what it is computed from.
double off_scale(const Norm& norm, std::size_t row, const Moments& of_x) {
    const auto n = static_cast<double>(norm.width());
    const double expected = norm.facts.scale_of(of_x.variance * n, n);
    return std::abs(static_cast<double>(norm.scale[row]) - expected) / expected;
}

// Gain and shift are undone on the recorded output. Where the gain is small compared with the output, undoing it
// magnifies the output's rounding error: that much is allowed. Where the gain is 0, nothing can be recovered, and the
// expected value, computed from x, is used instead.
Measured measure_row(const Norm& norm, std::size_t number) {
    const row::In x = norm.row(norm.x, number), out = norm.row(norm.out, number);
    const auto scale = static_cast<double>(norm.scale[number]);
    const Moments of_x = moments_of(x, norm.centred);
    Measured measured;
    if (const double off = off_scale(norm, number, of_x); !(off <= kAllowedOfNorms))
        return {.off = off, .variance = off, .of_scale = true};
    std::vector<double> plain(x.size());
    double furthest = -1.0, rounding = 0.0, of_squares = 0.0;
    // The largest relative error of a number that was rounded before and after the gain.
    const double relative = ulp_at(1.0, norm.step.operation.arithmetic());
    for (std::size_t d = 0; d < x.size(); ++d) {
        const double expected = (static_cast<double>(x[d]) - of_x.mean) / scale;
        const auto gain = norm.gain(d), value = static_cast<double>(out[d]);
        const double shift = norm.shift.empty() ? 0.0 : static_cast<double>(norm.shift[d]);
        plain[d] = gain == 0.0 ? expected : (value - shift) / gain;
        const double unsure = gain == 0.0 ? 0.0 : relative * (std::abs(value) + std::abs(shift)) / std::abs(gain);
        rounding += unsure;
        of_squares += unsure * (2.0 * std::abs(plain[d]) + unsure);
        const double off = gain == 0.0 ? std::abs(value - shift) : std::abs(plain[d] - expected);
        if (off <= furthest) continue;
        furthest = std::isnan(off) ? HUGE_VAL : off;
        measured.column = d;
    }
    const auto n = static_cast<double>(x.size());
    const Moments moments = moments_of(plain, norm.centred);
    // The variance lost to the eps, or to n − 1, isn't an error.
    measured.variance = std::abs(moments.variance - norm.expected_variance(scale));
    measured.mean = std::abs(moments.mean);
    measured.off = std::max(measured.mean, measured.variance);
    measured.allowed = kAllowedOfNorms + std::max(rounding, of_squares) / n;
    if (std::isnan(moments.variance)) measured.off = HUGE_VAL;
    return measured;
}

bool all_finite(row::In row) {
    return std::ranges::all_of(row, [](float value) { return std::isfinite(value); });
}

// What is known of the rows measured so far.
struct NormRows {
    std::size_t checked = 0, known = 0, off = 0, norms = 0;
    double mean = 0.0, variance = 0.0;  // the largest over all rows
    Measured furthest;
    const Step* step = nullptr;
    Cell cell;

    void look_at(const Norm& norm, const Axes& axes) {
        ++norms;
        for (std::size_t number = 0; number < norm.scale.size(); ++number) {
            if (!all_finite(norm.row(norm.x, number))) {
                ++known;
                continue;
            }
            add(norm, axes, number, measure_row(norm, number));
        }
    }

    void add(const Norm& norm, const Axes& axes, std::size_t number, const Measured& measured) {
        ++checked;
        off += measured.kept() ? 0 : 1;
        mean = std::max(mean, measured.mean);
        variance = std::max(variance, measured.variance);
        // Rows that break the law come before those that don't.
        const bool first = step == nullptr || (furthest.kept() && !measured.kept());
        if (!first && (measured.off <= furthest.off || (measured.kept() && !furthest.kept()))) return;
        furthest = measured;
        step = measured.of_scale ? &norm.scale_step : &norm.step;
        const auto row = static_cast<Index>(number), pos = axes[1].size;
        cell = {row / pos, row % pos, measured.of_scale ? 0 : static_cast<Index>(measured.column)};
    }
};

Sentence failing(const NormRows& rows, const Sentence& norms) {
    Arguments arguments = {
        {"rows", counted_rows(rows.checked)}, {"norms", norms}, {"error", measure_text(rows.furthest.off)}};
    if (rows.furthest.of_scale)
        return message_n("{count} of {rows} of {norms} fails; the largest relative error of a scale is {error}.",
                         "{count} of {rows} of {norms} fail; the largest relative error of a scale is {error}.",
                         rows.off, std::move(arguments));
    return message_n("{count} of {rows} of {norms} fails; the largest error is {error}.",
                     "{count} of {rows} of {norms} fail; the largest error is {error}.", rows.off,
                     std::move(arguments));
}

Sentence finding_of(const NormRows& rows) {
    if (rows.norms == 0) return message("This configuration has no norm.");
    if (rows.checked == 0) return message("No row can be measured.");
    const Sentence norms = message_n("{count} norm", "{count} norms", rows.norms);
    if (rows.off > 0) return failing(rows, norms);
    return message(
        "{rows} of {norms}; means differ from 0 by at most {mean}, variances from 1 by at most {variance}, counting "
        "eps.",
        {{"rows", counted_rows(rows.checked)},
         {"norms", norms},
         {"mean", measure_text(rows.mean)},
         {"variance", measure_text(rows.variance)}});
}

// Rows that no norm can bring to mean 0 and variance 1.
Sentence already_broken(const NormRows& rows) {
    if (rows.known == 0) return {};
    return message_n("{count} row that a norm reads holds NaN or infinity already.",
                     "{count} rows that a norm reads hold NaN or infinity already.", rows.known,
                     {{"count", grouped(static_cast<Index>(rows.known))}});
}

}  // namespace

Resumable<Invariant> measure_norms(const Run& run) {
    Invariant invariant{.law = Law::norms};
    const Plan& plan = run.plan();
    NormRows rows;
    Reader read_x, read_scale, read_out;
    for (const Step& step : plan.steps()) {
        co_yield kPause;
        const std::optional<NormFacts> facts = step.operation.traits().norm;
        if (!facts || run.value(step.id).empty()) continue;
        const Ref scale_step = plan.operand(step, OperandRole::scale);
        const std::optional<ScaleFacts> scale =
            scale_step == nullptr ? std::nullopt : scale_step->operation.traits().scale;
        if (!scale) continue;
        const Norm norm = {
            step,
            *scale_step,
            facts->centred,
            *scale,
            read_x(run.operand(step, OperandRole::input)),
            read_scale(run.value(scale_step->id)),
            read_out(run.value(step.id)),
            step.operand(OperandRole::gain) ? run.operand(step, OperandRole::gain).values() : row::In(),
            step.operand(OperandRole::shift) ? run.operand(step, OperandRole::shift).values() : row::In(),
            facts->gain_offset};
        rows.look_at(norm, step.axes);
    }
    if (rows.checked > 0) invariant.verdict = rows.off > 0 ? Verdict::broken : Verdict::kept;
    invariant.measured = rows.furthest.off;
    invariant.checked = rows.checked;
    invariant.finding = finding_of(rows);
    invariant.besides = already_broken(rows);
    if (rows.step == nullptr) co_return invariant;
    invariant.step = rows.step->name;
    invariant.cell = rows.cell;
    co_return invariant;
}

}  // namespace decoderscope::core::checks
