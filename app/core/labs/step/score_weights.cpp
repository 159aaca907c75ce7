#include "app/core/labs/step/score_weights.h"

#include "app/core/jobs/resumable.h"
#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::step {

namespace {

// The step that projects an attention's q or k, before it is normalised or turned; nullptr if it isn't made by one
// product alone.
Ref projection_of(const Plan& plan, const std::string& attention, AttentionStep which) {
    Ref step = plan.step_of(attention, which);
    while (step != nullptr && plan.operand(*step, OperandRole::weight) == nullptr) step = plan.main_operand(*step);
    return step;
}

std::vector<Ref> projections_of(const Plan& plan, const std::string& attention) {
    std::vector<Ref> found;
    for (const AttentionStep which : {AttentionStep::query, AttentionStep::key}) {
        const Ref step = projection_of(plan, attention, which);
        if (step == nullptr) continue;
        const Ref weight = plan.operand(*step, OperandRole::weight);
        // If q and k share a projection, its weights count for both.
        const auto same = [&](Ref other) { return plan.operand(*other, OperandRole::weight) == weight; };
        if (std::ranges::none_of(found, same)) found.push_back(step);
    }
    return found;
}

// What each number of a parameter contributes to the target: the number times its gradient.
std::vector<double> products(const Run& run, const Step& parameter) {
    const Ref gradient = run.plan().gradient_wrt(parameter);
    if (gradient == nullptr) return {};
    const Tensor &values = run.value(parameter.id), &slopes = run.value(gradient->id);
    if (values.empty() || slopes.empty() || values.size() != slopes.size()) return {};
    std::vector<double> made;
    made.reserve(values.values().size());
    std::ranges::transform(values.values(), slopes.values(), std::back_inserter(made), [](float value, float slope) {
        return static_cast<double>(value) * static_cast<double>(slope);
    });
    return made;
}

double sum_of(std::span<const double> values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
}

std::vector<WeightPart> largest_of(const Tensor& weight, std::span<const double> made) {
    std::vector<std::size_t> order(made.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t count = std::min(kMostWeights, order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                              [&](std::size_t a, std::size_t b) { return std::abs(made[a]) > std::abs(made[b]); });
    std::vector<WeightPart> largest;
    for (std::size_t i = 0; i < count; ++i)
        largest.push_back({weight.cell(static_cast<Index>(order[i])), made[order[i]]});
    return largest;
}

ProjectionParts parts_of(const Run& run, const Step& projection) {
    const Plan& plan = run.plan();
    const Step& weight = *plan.operand(projection, OperandRole::weight);
    const std::vector<double> made = products(run, weight);
    ProjectionParts parts{
        .weight = weight.name, .largest = largest_of(run.value(weight.id), made), .sum = sum_of(made)};
    if (const Ref bias = plan.operand(projection, OperandRole::bias)) {
        parts.bias = bias->name;
        parts.of_bias = sum_of(products(run, *bias));
    }
    return parts;
}

Resumable<ShownScoreWeights> weights_job(Scenario scenario, std::shared_ptr<const Run> before, ScoreCell score) {
    ShownScoreWeights shown;
    try {
        scenario.gradient_target = cell_name(score.tensor, score.cell);
        const std::shared_ptr<const Plan> plan = plan_of(scenario);
        const Ref target = plan->find(score.tensor);
        const std::vector<Ref> projections = projections_of(*plan, target->attention);
        std::vector<std::string> asked;
        for (const Ref projection : projections)
            for (const OperandRole role : {OperandRole::weight, OperandRole::bias})
                if (const Ref parameter = plan->operand(*projection, role))
                    if (const Ref gradient = plan->gradient_wrt(*parameter)) asked.push_back(gradient->name);
        const std::shared_ptr<const Run> run =
            co_await execute_in_slices(plan, {.previous = before.get(), .asked = asked});
        for (const Ref projection : projections) shown.projections.push_back(parts_of(*run, *projection));
    } catch (const Error& error) {
        shown.error = error.sentence();
    }
    co_return shown;
}

}  // namespace

std::optional<ScoreCell> score_of(const Plan& plan, const Step& step, const Cell& cell) {
    if (step.backward || step.attention.empty() || (!step.is_pattern && !step.is_scores)) return std::nullopt;
    const Ref scores = plan.step_of(step.attention, AttentionStep::scores);
    if (scores == nullptr || scores->axes != step.axes || cell.size() != scores->axes.size()) return std::nullopt;
    if (projections_of(plan, step.attention).empty()) return std::nullopt;
    return ScoreCell{scores->name, cell};
}

Value<ShownScoreWeights> shown_score_weights(Derived& derived, const Snapshot& shown, const ScoreCell& score) {
    return derived.later<ShownScoreWeights>({shown.run}, std::tie(score.tensor, score.cell),
                                            [&] { return weights_job(shown.scenario, shown.run, score); });
}

}  // namespace decoderscope::core::step
