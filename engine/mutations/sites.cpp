#include "engine/mutations/sites.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <functional>

namespace decoderscope::mutations::sites {

std::vector<std::string> attentions(const Plan& plan, Part part) {
    std::vector<std::string> found;
    for (const Step& step : plan.steps())
        if (!step.attention.empty() && step.part == part && !step.in_encoder() &&
            std::ranges::find(found, step.attention) == found.end())
            found.push_back(step.attention);
    return found;
}

std::vector<StepId> readers(const Plan& plan, const std::string& attention, std::string_view parameter) {
    std::vector<StepId> found = readers(plan, parameter);
    std::erase_if(found, [&](StepId id) { return plan[id].attention != attention; });
    return found;
}

std::vector<StepId> readers(const Plan& plan, std::string_view parameter) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps()) {
        if (step.role == Role::on_demand) continue;
        const bool reads = std::ranges::any_of(step.operands, [&](StepId operand) {
            return plan[operand].role == Role::parameter && plan[operand].name.ends_with(parameter);
        });
        if (reads) found.push_back(step.id);
    }
    return found;
}

std::vector<StepId> norms(const Plan& plan) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operation.traits().norm) found.push_back(step.id);
    return found;
}

std::vector<StepId> scales(const Plan& plan) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operation.traits().scale) found.push_back(step.id);
    return found;
}

Part made_by(const Plan& plan, StepId id) {
    const Step& step = plan[id];
    return step.operation.traits().norm ? plan[step.operands[0]].part : step.part;
}

std::vector<StepId> sums_of(const Plan& plan, Part part) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.part == Part::add && step.operands.size() == 2 && made_by(plan, step.operands[1]) == part)
            found.push_back(step.id);
    return found;
}

bool has_bias(const Step& step) { return step.operands.size() > 2; }

}  // namespace decoderscope::mutations::sites

namespace decoderscope::mutations {

namespace {

OperandAxes axes_of(const Operands& in, std::size_t count) {
    OperandAxes axes;
    for (std::size_t i = 0; i < count; ++i) axes.push_back(in[i].axes());
    return axes;
}

}  // namespace

Axes Then::axes(const OperandAxes& in) const {
    const auto split = in.begin() + static_cast<std::ptrdiff_t>(std::min(read_by_first, in.size()));
    OperandAxes second_reads = {first.axes(OperandAxes(in.begin(), split))};
    second_reads.insert(second_reads.end(), split, in.end());
    return second.axes(second_reads);
}

Operands Then::first_operands(const Operands& in) const {
    Operands read;
    for (std::size_t i = 0; i < std::min(read_by_first, in.size()); ++i) read.add(in[i]);
    return read;
}

Operands Then::second_operands(const Operands& in, const Tensor& made) const {
    Operands read;
    read.add(made);
    for (std::size_t i = read_by_first; i < in.size(); ++i) read.add(in[i]);
    return read;
}

Tensor Then::between(const Operands& in) const {
    const Operands read = first_operands(in);
    return first.compute(read, first.axes(axes_of(in, read.size())));
}

Tensor Then::compute(const Operands& in, const Axes& axes) const {
    const Tensor made = between(in);
    return second.compute(second_operands(in, made), axes);
}

namespace {

void for_each_factor(Explanation& explanation, const std::function<void(Factor&)>& work) {
    for (Line& line : explanation.lines) {
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) work(factor);
        for (Factor& factor : line.given) work(factor);
    }
}

// A number that has no name, so it has no place to go to.
void make_nameless(Factor& factor) {
    if (factor.text.empty()) factor.text = short_number(factor.value);
    factor.cell.reset();
}

}  // namespace

// What lies between the two has no name; the second's other operands come after the first's.
void Then::place_of_second(Explanation& explanation) const {
    for_each_factor(explanation, [this](Factor& factor) {
        if (!factor.cell) return;
        if (factor.cell->operand == 0)
            make_nameless(factor);
        else
            factor.cell->operand += read_by_first - 1;
    });
}

Explanation Then::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const Tensor made = between(in);
    Explanation explanation = second.explain(second_operands(in, made), out, cell);
    place_of_second(explanation);
    return explanation;
}

bool Then::passes_gradient(std::size_t operand) const {
    if (operand >= read_by_first) return second.passes_gradient(operand - read_by_first + 1);
    return second.passes_gradient(0) && first.passes_gradient(operand);
}

OpDescription Then::about_pull_back(std::size_t operand) const {
    if (operand >= read_by_first) return second.about_pull_back(operand - read_by_first + 1);
    return {tr("gradient through two operations"), "∂/∂x = (g · ∂second/∂first) · ∂first/∂x",
            tr("Two operations in one step: the gradient goes back through the second, then through the first.")};
}

Tensor Then::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor made = between(b.in);
    const Operands second_reads = second_operands(b.in, made);
    const Backward through_second = {second_reads, b.out, b.grad};
    if (operand >= read_by_first) return second.pull_back(operand - read_by_first + 1, through_second);
    const Tensor by_made = second.pull_back(0, through_second);
    const Operands first_reads = first_operands(b.in);
    return first.pull_back(operand, {first_reads, made, by_made});
}

Explanation Then::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor made = between(b.in);
    const Operands second_reads = second_operands(b.in, made);
    const Backward through_second = {second_reads, b.out, b.grad};
    if (operand >= read_by_first) {
        Explanation explanation = second.explain_pull_back(operand - read_by_first + 1, through_second, cell);
        place_of_second(explanation);
        return explanation;
    }
    const Tensor by_made = second.pull_back(0, through_second);
    const Operands first_reads = first_operands(b.in);
    Explanation explanation = first.explain_pull_back(operand, {first_reads, made, by_made}, cell);
    for_each_factor(explanation, [&](Factor& factor) {
        if (factor.cell && factor.cell->operand >= first_reads.size()) make_nameless(factor);
    });
    return explanation;
}

}  // namespace decoderscope::mutations
