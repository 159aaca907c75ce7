#include "app/core/labs/step/direct_path.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The product of the last stream with the vocabulary: the head's first step that makes [batch, pos, vocab].
const Step* head_of(const Plan& plan) {
    for (const Step& step : plan.steps()) {
        const bool over_vocabulary = step.axes.size() == 3 && step.axes[2].name == axis::vocab;
        if (step.part == Part::head && over_vocabulary && step.operands.size() > 1) return &step;
    }
    return nullptr;
}

// What a sum multiplies its operand number `operand` by: what stands beside the operand's cell in its explanation.
double factor_in_sum(const Run& run, const Step& sum, std::size_t operand) {
    const Explanation explanation =
        sum.operation.explain(run.operands_of(sum.id), run.value(sum.id), Cell(sum.axes.size(), 0));
    for (const Term& term : explanation.lines.back().terms) {
        double others = 1.0;
        bool found = false;
        for (const Factor& factor : term.factors) {
            const bool is_operand = factor.cell && factor.cell->operand == operand && factor.text.empty();
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
        update = plan[update].operands[0];
        paths.of[update] = path;
    }
}

// Heads' results have the path of their attention's output: both are made from the same z, or one from the other.
void add_results(DirectPaths& paths, const Plan& plan) {
    for (const Step& step : plan.steps()) {
        const bool by_head =
            step.axes.size() == 4 && step.axes[1].name == axis::head && step.axes[3].name == axis::d_model;
        if (!by_head || step.attention.empty()) continue;  // gradients belong to no attention
        for (const auto& [id, path] : paths.of) {
            const Step& update = plan[id];
            if (update.attention != step.attention || update.operands.empty()) continue;
            if (update.operands[0] != step.operands[0] && update.operands[0] != step.id) continue;
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
                       {run.value(norm.operands[1]).at(Cell{batch, pos, 0})});
    Operands operands;  // x, scale, gain
    operands.add(x);
    operands.add(scale);
    operands.add(run.value(norm.operands[2]));
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
    StepId at = paths.head->operands[0];
    for (;; at = plan[at].operands[0]) {
        const Step& step = plan[at];
        const Traits traits = step.operation.traits();
        paths.of[at] = path;
        if (traits.norm) {
            paths.from[at] = path;
            path = through_norm(at, path);
        } else if (traits.goes_on) {
            for (std::size_t i = 1; i < step.operands.size(); ++i) {
                DirectPath added = path;
                added.factor *= factor_in_sum(run, step, i);
                add_update(paths, plan, step.operands[i], std::move(added));
            }
            path.factor *= factor_in_sum(run, step, 0);
        } else {
            paths.added.push_back(at);
            break;
        }
    }
    add_results(paths, plan);
    return paths;
}

std::vector<double> along_path(const Run& run, const DirectPath& path, Index batch, Index pos,
                               std::span<const double> row) {
    std::vector<float> carried;
    for (const double value : row) carried.push_back(static_cast<float>(value * path.factor));
    for (const StepId id : path.norms) carried = through_frozen_norm(run, run.plan()[id], batch, pos, carried);
    return {carried.begin(), carried.end()};
}

double towards_token(const Run& run, const Step& head, std::span<const double> row, Index token) {
    const Tensor& weight = run.value(head.operands[1]);  // [vocab, d_model]
    const float* toward = weight.data() + token * weight.dim(1);
    double sum = 0.0;
    for (std::size_t d = 0; d < row.size(); ++d) sum += row[d] * static_cast<double>(toward[d]);
    return sum;
}

}  // namespace decoderscope
