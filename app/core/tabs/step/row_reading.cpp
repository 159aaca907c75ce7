#include "app/core/tabs/step/row_reading.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/labels.h"
#include "app/core/run/step_picture.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/tensor/row_math.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <tuple>

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

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Which of an attention's steps have rows by query: its scores to its output.
bool has_queries(const Step& step) {
    return step.axes.size() == 4 && step.axes[1].name == axis::head && step.axes[2].name == axis::query;
}

// The values as a row of the pattern reads them.
struct ValueRows {
    const Tensor& v;  // [batch, kv_head, key, d_head]
    Index batch, head;

    [[nodiscard]] std::span<const float> of(Index key) const { return v.row({batch, head, key, 0}); }
};

// z as the pattern and the values make it, and each key's part of it.
void read_parts(PatternRowReading& row, std::span<const float> weights, const ValueRows& values,
                std::span<const float> z) {
    std::vector<double> sum(z.size(), 0.0);
    for (KeyPart& part : row.parts) {
        const std::span<const float> v = values.of(part.key);
        const auto weight = static_cast<double>(weights[static_cast<std::size_t>(part.key)]);
        double squares = 0.0, along = 0.0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            const double term = weight * static_cast<double>(v[i]);
            sum[i] += term;
            squares += term * term;
            along += term * static_cast<double>(z[i]);
        }
        part.length = std::sqrt(squares);
        part.share = along;
    }
    double squares = 0.0, off = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const auto value = static_cast<double>(z[i]);
        squares += value * value;
        off += (value - sum[i]) * (value - sum[i]);
    }
    constexpr double kRounding = 1e-4;  // of the length
    if (!(squares > 0.0) || !(off <= kRounding * kRounding * squares)) {
        row.parts.clear();
        return;
    }
    row.length = std::sqrt(squares);
    for (KeyPart& part : row.parts) part.share /= squares;
    std::ranges::stable_sort(row.parts, std::greater<>(), [](const KeyPart& part) { return std::abs(part.share); });
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

std::optional<PatternRowReading> read_pattern_row(const Scenario& scenario, const Run& run, const Step& step,
                                                  const Cell& cell) {
    const Plan& plan = run.plan();
    const Ref pattern = plan.step_of(step.attention, AttentionStep::pattern);
    if (pattern == nullptr || step.backward || !has_queries(step) || cell.size() != 4) return std::nullopt;
    const Tensor& weights = run.value(pattern->id);  // [batch, head, query, key]
    const Cell first = {cell[0], cell[1], cell[2], 0};
    if (weights.empty() || !weights.contains(first)) return std::nullopt;
    const std::span<const float> here = weights.row(first);
    // If a weight was set to a value that no softmax gives, nothing can be read from the row.
    if (std::ranges::any_of(here, [](float weight) { return weight < 0.0F || weight > 1.0F + 1e-4F; }))
        return std::nullopt;
    PatternRowReading row{.query = cell[2]};
    row.entropy = row::entropy(here);
    if (cell[2] > 0) row.before = row::entropy(weights.row({cell[0], cell[1], cell[2] - 1, 0}));
    if (const Ref sink = sink_beside(run, *pattern)) row.sink = static_cast<double>(run.value(sink->id).at(first));
    const PlaceNames names(scenario, *pattern, {3}, cell[0]);
    for (std::size_t key = 0; key < here.size(); ++key) {
        const auto at = static_cast<Index>(key);
        row.parts.push_back({.key = at, .name = names.index(0, at), .weight = static_cast<double>(here[key])});
    }
    row.length = kNan;
    if (std::isnan(row.entropy)) row.parts.clear();
    if (row.parts.size() >= 2) {
        std::vector<KeyPart> largest = row.parts;
        std::ranges::stable_sort(largest, std::greater<>(), &KeyPart::weight);
        row.largest = largest[0];
        row.second = largest[1];
    }
    const Ref v = plan.step_of(step.attention, AttentionStep::value),
              z = plan.step_of(step.attention, AttentionStep::z);
    if (v == nullptr || z == nullptr || run.value(v->id).empty() || run.value(z->id).empty()) row.parts.clear();
    if (row.parts.empty()) return row;
    const Tensor &values = run.value(v->id), &made = run.value(z->id);
    const Index kv_head = cell[1] * values.dim(1) / weights.dim(1);
    read_parts(row, here, {values, cell[0], kv_head}, made.row(first));
    return row;
}

Value<ShownPatternRow> shown_pattern_row(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ShownPatternRow>({shown.run}, std::make_tuple(step.id, cell), [&] {
        return ShownPatternRow{read_pattern_row(shown.scenario, *shown.run, step, cell)};
    });
}

Sentence sharpness_sentence(const PatternRowReading& row) {
    if (std::isnan(row.entropy)) return message("Its entropy is NaN: it has nothing to attend to.");
    Arguments arguments = {{"entropy", short_number_text(row.entropy, 3)}};
    if (!row.before || std::isnan(*row.before)) return message("Row: entropy {entropy} bits.", arguments);
    const double more = row.entropy - *row.before;
    arguments.push_back({"change", short_number_text(std::abs(more), 3)});
    if (more == 0.0) return message("Row: entropy {entropy} bits, the same as the row above.", arguments);
    return more > 0.0 ? message("Row: entropy {entropy} bits, {change} more than above.", arguments)
                      : message("Row: entropy {entropy} bits, {change} less than above.", arguments);
}

Sentence hesitation_sentence(const PatternRowReading& row) {
    if (!row.largest || !row.second) return {};
    return message("Largest: {first} {weight}, {second} {other}; {apart} apart.",
                   {{"first", row.largest->name},
                    {"weight", short_number_text(row.largest->weight, 3)},
                    {"second", row.second->name},
                    {"other", short_number_text(row.second->weight, 3)},
                    {"apart", short_number_text(row.largest->weight - row.second->weight, 3)}});
}

Sentence sink_sentence(const PatternRowReading& row) {
    if (!row.sink || std::isnan(*row.sink)) return {};
    return message("The sink takes {weight}, which goes to no key.", {{"weight", short_number_text(*row.sink, 3)}});
}

Sentence part_sentence(const KeyPart& part) {
    return message("{key} makes {percent} % of z (length {length}).",
                   {{"key", part.name},
                    {"percent", short_number_text(part.share * 100.0, 3)},
                    {"length", short_number_text(part.length, 3)}});
}

}  // namespace decoderscope::core::step
