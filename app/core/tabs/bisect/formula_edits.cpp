#include "app/core/tabs/bisect/formula_edits.h"

#include "engine/base/error.h"
#include "engine/formulas/book.h"
#include "engine/formulas/print.h"
#include "engine/mutations/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

// A step that computes as its formula says agrees with it to within this, relative to the tensor's magnitude.
constexpr double kItsOwn = 1e-3;

// The sizes and numbers that people take for one another.
constexpr std::array<std::string_view, 6> kMistaken = {"d_model",         "d_head",    "nhead", "num_key_value_heads",
                                                       "dim_feedforward", "num_layers"};

// All numbers that a formula of this step may name.
std::map<std::string, double, std::less<>> numbers_of(const Plan& plan, const Step& step, const ops::ByFormula& by,
                                                      const std::map<std::string, double, std::less<>>& keys) {
    std::map<std::string, double, std::less<>> numbers;
    for (const ops::NamedNumber& number : by.numbers) numbers[std::string(number.name)] = number.value;
    const auto add = [&](const Axes& axes) {
        for (const Axis& axis : axes) numbers.try_emplace(std::string(axis.name), static_cast<double>(axis.size));
    };
    add(step.axes);
    for (const StepId operand : step.operands) add(plan[operand].axes);
    for (const std::string_view name : kMistaken)
        if (const auto key = keys.find(name); key != keys.end()) numbers.try_emplace(key->first, key->second);
    return numbers;
}

// The formula with its functions put in place; nothing if there is none that fits the step.
std::optional<formulas::Formula> spelt_out(const Plan& plan, const Step& step, const ops::ByFormula& by) {
    OperandAxes in;
    for (const StepId operand : step.operands) in.push_back(plan[operand].axes);
    try {
        return by.fitted(in, step.axes);
    } catch (const formulas::FormulaError&) {
        return std::nullopt;
    }
}

}  // namespace

SuspectStep::SuspectStep(const Run& run, StepId step, StepId wrong,
                         const std::map<std::string, double, std::less<>>& numbers)
    : run_(run), step_(step), wrong_(wrong), numbers_(numbers) {
    const Plan& plan = run.plan();
    const std::optional<ops::ByFormula> by = ops::formula_of(plan[step].operation);
    if (!by || !plan[step].patches.empty()) return;
    const std::optional<formulas::Formula> formula = spelt_out(plan, plan[step], *by);
    if (!formula || !is_its_own(*formula)) return;
    std::vector<std::string> candidates(kMistaken.begin(), kMistaken.end());
    edits_ = formulas::edits(*formula, numbers_of(plan, plan[step], *by, numbers), candidates);
}

Tensor SuspectStep::computed(const Operation& operation, const std::vector<StepId>& operands, const Axes& axes,
                             const std::map<StepId, Tensor>& changed) const {
    Operands in;
    for (const StepId operand : operands) {
        const auto other = changed.find(operand);
        in.add(other == changed.end() ? run_.value(operand) : other->second);
    }
    return operation.compute(in, axes);
}

// Without this, a formula that says less than the step computes would be blamed for the rest.
bool SuspectStep::is_its_own(const formulas::Formula& formula) const {
    const Step& step = run_.plan()[step_];
    const auto made = mutations::rewritten(run_.plan(), step, formula, numbers_);
    if (!made) return false;
    const Tensor again = computed(made->operation, made->operands, step.axes, {});
    const Tensor& own = run_.value(step_);
    double largest = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < own.values().size(); ++i) {
        const auto a = static_cast<double>(own.values()[i]), b = static_cast<double>(again.values()[i]);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        if (!std::isfinite(a) || !std::isfinite(b)) return false;
        largest = std::max(largest, std::abs(a));
        difference = std::max(difference, std::abs(a - b));
    }
    return difference <= kItsOwn * largest;
}

std::optional<Tensor> SuspectStep::outcome(std::size_t edit, double& steps) const {
    const Plan& plan = run_.plan();
    const auto made = mutations::rewritten(plan, plan[step_], edits_[edit].formula, numbers_);
    if (!made) return std::nullopt;
    steps += made->steps;
    std::map<StepId, Tensor> changed;
    try {
        changed.emplace(step_, computed(made->operation, made->operands, plan[step_].axes, changed));
        for (StepId id = step_ + 1; id <= wrong_; ++id) {
            const Step& step = plan[id];
            if (std::ranges::none_of(step.operands, [&](StepId operand) { return changed.contains(operand); }))
                continue;
            changed.emplace(id, computed(step.operation, step.operands, step.axes, changed));
        }
    } catch (const Error&) {  // what follows can't read it: a token or a position that no table has
        return std::nullopt;
    }
    const auto found = changed.find(wrong_);
    return found == changed.end() ? std::nullopt : std::optional(found->second);
}

std::string SuspectStep::formula(std::size_t edit) const { return text_of(edits_[edit].formula); }

std::vector<StepId> suspects(const Plan& plan, StepId wrong, const std::set<StepId>& recorded) {
    constexpr std::size_t kMost = 6;
    std::vector<StepId> found;
    if (plan[wrong].is_source()) return found;
    found.push_back(wrong);
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const StepId operand : plan[found[i]].operands)
            if (!plan[operand].is_source() && !recorded.contains(operand) && found.size() < kMost &&
                std::ranges::find(found, operand) == found.end())
                found.push_back(operand);
    return found;
}

}  // namespace decoderscope::core::bisect
