#include "app/core/labs/step/direct_path.h"

#include <algorithm>

namespace decoderscope::core::step {

namespace {

// The product of the last stream with the vocabulary: the head's first step that makes [batch, pos, vocab].
const Step* head_of(const Plan& plan) {
    for (const Step& step : plan.steps()) {
        const bool over_vocabulary = step.axes.size() == 3 && step.axes[2].name == axis::vocab;
        if (step.part == Part::head && over_vocabulary && step.operation.traits().is_linear) return &step;
    }
    return nullptr;
}

// What a sum multiplies an operand by: the factor beside the operand's cell in its explanation.
double factor_in_sum(const Run& run, const Step& sum, StepId operand) {
    const Explanation explanation =
        sum.operation.explain(run.operands_of(sum.id), run.value(sum.id), Cell(sum.axes.size(), 0));
    for (const Term& term : explanation.lines.back().terms) {
        double others = 1.0;
        bool found = false;
        for (const Factor& factor : term.factors) {
            const bool is_operand = factor.cell && sum.operands[factor.cell->operand] == operand && factor.text.empty();
            found = found || is_operand;
            if (!is_operand) others *= factor.value;
        }
        if (found) return others;
    }
    return 1.0;
}

DirectPath through_norm(StepId norm, const DirectPath& after) {
    DirectPath path{after.factor, {norm}};
    path.norms.insert(path.norms.end(), after.norms.begin(), after.norms.end());
    return path;
}

// An update, and what becomes it in a norm of its own (Peri-Norm).
void add_update(DirectPaths& paths, const Plan& plan, StepId update, DirectPath path) {
    paths.added.push_back(update);
    paths.of[update] = path;
    while (plan[update].operation.traits().norm) {
        path = through_norm(update, path);
        update = *plan[update].operand(OperandRole::input);
        paths.of[update] = path;
    }
}

// Heads' results have the path of their attention's output.
void add_results(DirectPaths& paths, const Plan& plan) {
    for (const Step& step : plan.steps()) {
        for (const auto& [id, path] : paths.of) {
            if (!are_results_of(step, plan[id])) continue;
            const DirectPath same = path;
            paths.of[step.id] = same;
            break;
        }
    }
}

// A row through a norm whose scale is the recorded one, without its shift: the norm's own operation, on other operands.
std::vector<float> through_frozen_norm(const Run& run, const Step& norm, Index batch, Index pos,
                                       std::span<const float> row) {
    const Axes one_row = {{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, static_cast<Index>(row.size())}};
    const Tensor x(one_row, row);
    const Tensor scale({{axis::batch, 1}, {axis::pos, 1}, {axis::one, 1}},
                       {run.operand(norm, OperandRole::scale).at(Cell{batch, pos, 0})});
    Operands operands;  // x, scale, gain if any
    operands.add(x);
    operands.add(scale);
    if (const Tensor& gain = run.operand(norm, OperandRole::gain); !gain.empty()) operands.add(gain);
    const Tensor normed = norm.operation.compute(operands, one_row);
    return {normed.values().begin(), normed.values().end()};
}

}  // namespace

DirectPaths direct_paths(const Run& run) {
    const Plan& plan = run.plan();
    DirectPaths paths;
    paths.head = head_of(plan);
    if (paths.head == nullptr) return paths;
    DirectPath path;
    Ref at = plan.operand(*paths.head, OperandRole::input);
    for (Ref before = nullptr;; at = before) {
        const Traits traits = at->operation.traits();
        paths.of[at->id] = path;
        before = traits.norm             ? plan.operand(*at, OperandRole::input)
                 : traits.passes_through ? plan.operand(*at, OperandRole::stream)
                                         : nullptr;
        if (before == nullptr) break;
        if (!at->patches.empty()) paths.edited.push_back(at->id);
        if (traits.norm) {
            paths.from[at->id] = path;
            path = through_norm(at->id, path);
            continue;
        }
        for (const StepId update : at->operands_as(OperandRole::update)) {
            DirectPath added = path;
            added.factor *= factor_in_sum(run, *at, update);
            add_update(paths, plan, update, std::move(added));
        }
        path.factor *= factor_in_sum(run, *at, before->id);
    }
    paths.added.push_back(at->id);
    add_results(paths, plan);
    return paths;
}

// Both are made from the same heads' output, or one from the other.
bool are_results_of(const Step& results, const Step& whole) {
    const bool by_head =
        results.axes.size() == 4 && results.axes[1].name == axis::head && results.axes[3].name == axis::d_model;
    if (!by_head || results.attention.empty() || results.attention != whole.attention) return false;
    if (!whole.operation.traits().adds_heads) return false;
    return whole.operand(OperandRole::results) == results.id ||
           (whole.operand(OperandRole::input) &&
            whole.operand(OperandRole::input) == results.operand(OperandRole::input));
}

std::vector<double> along_path(const Run& run, const DirectPath& path, Index batch, Index pos,
                               std::span<const double> row) {
    std::vector<float> carried;
    for (const double value : row) carried.push_back(static_cast<float>(value * path.factor));
    for (const StepId id : path.norms) carried = through_frozen_norm(run, run.plan()[id], batch, pos, carried);
    return {carried.begin(), carried.end()};
}

double towards_token(const Run& run, const Step& head, std::span<const double> row, Index token) {
    const Tensor& weight = run.operand(head, OperandRole::weight);  // [vocab, d_model]
    const float* toward = weight.data() + token * weight.dim(1);
    double sum = 0.0;
    for (std::size_t d = 0; d < row.size(); ++d) sum += row[d] * static_cast<double>(toward[d]);
    return sum;
}

}  // namespace decoderscope::core::step
