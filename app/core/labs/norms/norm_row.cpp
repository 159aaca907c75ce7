#include "app/core/labs/norms/norm_row.h"

#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

namespace decoderscope::core::norms {

namespace {

std::vector<float> row_of(const Tensor& x, Index batch, Index pos) {
    const Index n = x.dim(2);
    const float* first = x.data() + (batch * x.dim(1) + pos) * n;
    return {first, first + n};
}

std::vector<float> all_of(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

double mean_of(const std::vector<float>& row) {
    double sum = 0.0;
    for (const float x : row) sum += static_cast<double>(x);
    return sum / static_cast<double>(row.size());
}

double mean_square_about(const std::vector<float>& row, double centre) {
    double sum = 0.0;
    for (const float x : row) sum += (static_cast<double>(x) - centre) * (static_cast<double>(x) - centre);
    return sum / static_cast<double>(row.size());
}

double length(const std::vector<float>& row) {
    return std::sqrt(mean_square_about(row, 0.0) * static_cast<double>(row.size()));
}

void measure(NormRow& row) {
    const auto deviation = [&](const std::vector<float>& values, double mean) {
        return std::sqrt(mean_square_about(values, row.centred ? mean : 0.0));
    };
    row.mean = mean_of(row.before);
    row.centre = row.centred ? row.mean : 0.0;
    row.variance = mean_square_about(row.before, row.centre);
    const auto n = static_cast<double>(row.before.size());
    if (row.unbiased) row.variance *= n / (n - 1.0);
    row.deviation = std::sqrt(row.variance);
    for (const float x : row.before)
        row.unit.push_back(static_cast<float>((static_cast<double>(x) - row.centre) / row.scale));
    row.unit_mean = mean_of(row.unit);
    row.unit_deviation = deviation(row.unit, row.unit_mean);
    row.after_mean = mean_of(row.after);
    row.after_deviation = deviation(row.after, row.after_mean);
    row.length_before = length(row.before);
    row.length_after = length(row.after);
}

}  // namespace

std::vector<std::string> norms_of_block(const Plan& plan, const std::string& block, StackKind stack) {
    std::vector<std::string> norms;
    for (const Step& step : plan.steps()) {
        const bool in_block = !step.block.empty() && step.block == block;
        const bool final_norm = step.block.empty() && step.lens.empty() && step.stack == stack;
        if (step.operation.traits().norm && (in_block || final_norm)) norms.push_back(step.norm);
    }
    return norms;
}

std::optional<NormRow> norm_row(const Run& run, const std::string& norm, Index batch, Index pos) {
    const Plan& plan = run.plan();
    const Ref normalized = plan.step_of(norm, NormStep::normalized), scale = plan.step_of(norm, NormStep::scale);
    if (normalized == nullptr || scale == nullptr) return std::nullopt;
    const Tensor& after = run.value(normalized->id);
    if (after.empty() || !after.contains(Cell{batch, pos, 0})) return std::nullopt;
    const std::optional<NormFacts> facts = normalized->operation.traits().norm;
    const std::optional<ScaleFacts> scaled = scale->operation.traits().scale;
    if (!facts || !scaled) return std::nullopt;
    const Ref before = plan.operand(*normalized, OperandRole::input);
    const Ref gain = plan.operand(*normalized, OperandRole::gain),
              shift = plan.operand(*normalized, OperandRole::shift);
    if (before == nullptr) return std::nullopt;
    NormRow row;
    row.norm = norm;
    row.centred = facts->centred;
    row.before_step = before->name;
    row.after_step = normalized->name;
    row.before = row_of(run.value(before->id), batch, pos);
    row.after = row_of(after, batch, pos);
    row.gain.assign(row.after.size(), 1.0F);  // norm_gain is off
    if (gain != nullptr) {
        row.gain = all_of(run.value(gain->id));
        for (float& value : row.gain) value += facts->gain_offset;
        row.gain_parameter = gain->name;
    }
    if (shift != nullptr) {
        row.shift = all_of(run.value(shift->id));
        row.shift_parameter = shift->name;
    }
    row.eps = scaled->eps;
    row.eps_outside = scaled->eps_outside;
    row.unbiased = scaled->unbiased;
    row.scale = static_cast<double>(run.value(scale->id).at(Cell{batch, pos, 0}));
    measure(row);
    return row;
}

std::string norm_row_sentence(const NormRow& row) {
    if (!std::isfinite(row.scale)) return tr("receives and propagates non-finite values.");
    const std::string divided = tr(row.eps > 0.1 * (row.eps_outside ? row.deviation : row.variance)
                                       ? message("divides by {scale} (length {before} → {after}; eps matters).")
                                       : message("divides by {scale} (length {before} → {after})."),
                                   {{"scale", number_text(row.scale, 3)},
                                    {"before", number_text(row.length_before, 3)},
                                    {"after", number_text(row.length_after, 3)}});
    if (!row.centred) return divided;
    return tr("subtracts the mean {mean} and {divides}", {{"mean", number_text(row.mean, 2)}, {"divides", divided}});
}

namespace {

InspectedNorm inspect(const Run& run, const Step& step, const Cell& cell) {
    const Traits traits = step.operation.traits();
    if (!traits.norm && !traits.scale) return {};
    return step.lens.empty() ? InspectedNorm{norm_row(run, step.norm, cell[0], cell[1])} : InspectedNorm();
}

}  // namespace

Value<InspectedNorm> inspected_norm(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<InspectedNorm>(Origins(shown.run), std::tie(step.id, cell),
                                      [&] { return inspect(*shown.run, step, cell); });
}

}  // namespace decoderscope::core::norms
