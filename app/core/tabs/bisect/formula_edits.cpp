#include "app/core/tabs/bisect/formula_edits.h"

#include "engine/base/error.h"
#include "engine/formulas/book.h"
#include "engine/formulas/print.h"
#include "engine/mutations/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

Tensor computed(const Run& run, const Operation& operation, const std::vector<StepId>& operands, const Axes& axes,
                const std::map<StepId, Tensor>& changed) {
    Operands in;
    for (const StepId operand : operands) {
        const auto other = changed.find(operand);
        in.add(other == changed.end() ? run.value(operand) : other->second);
    }
    return operation.compute(in, axes);
}

// "layers.0.norm1" of "layers.0.norm1.weight".
std::string module_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind('.')); }

using mutations::ReadingEdit;

}  // namespace

std::optional<Tensor> wrong_after(const Run& run, StepId step, StepId wrong, const std::function<Tensor()>& make) {
    const Plan& plan = run.plan();
    std::map<StepId, Tensor> changed;
    try {
        changed.emplace(step, make());
        for (StepId id = step + 1; id <= wrong; ++id) {
            const Step& next = plan[id];
            if (std::ranges::none_of(next.operands, [&](StepId operand) { return changed.contains(operand); }))
                continue;
            changed.emplace(id, computed(run, next.operation, next.operands, next.axes, changed));
        }
    } catch (const Error&) {
        return std::nullopt;
    }
    const auto found = changed.find(wrong);
    return found == changed.end() ? std::nullopt : std::optional(found->second);
}

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

// Without this, a formula that says less than the step computes would be blamed for the rest.
bool SuspectStep::is_its_own(const formulas::Formula& formula) const {
    const Step& step = run_.plan()[step_];
    const auto made = mutations::rewritten(run_.plan(), step, formula, numbers_);
    if (!made) return false;
    const Tensor again = computed(run_, made->operation, made->operands, step.axes, {});
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
    return wrong_after(run_, step_, wrong_,
                       [&] { return computed(run_, made->operation, made->operands, plan[step_].axes, {}); });
}

std::string SuspectStep::formula(std::size_t edit) const { return text_of(edits_[edit].formula); }

SuspectReading::SuspectReading(const Run& run, StepId step, StepId wrong) : run_(run), step_(step), wrong_(wrong) {
    const Plan& plan = run.plan();
    const Step& own = plan[step];
    if (own.is_source() || !own.patches.empty()) return;
    const auto is_near = [&](const Step& other) {
        return !other.is_source() && other.id < step && other.role != Role::on_demand &&
               (other.block == own.block || other.block.empty() || other.axes.size() == 3) &&
               !run.value(other.id).empty();
    };
    const auto add = [&](const std::string& from, const std::string& to) {
        edits_.push_back({!own.block.empty(), own.name, from, to});
    };
    std::set<std::string> modules;
    for (const StepId operand : own.operands) {
        const Step& before = plan[operand];
        if (before.role == Role::parameter && modules.insert(module_of(before.name)).second)
            for (const Step& other : plan.steps())
                if (other.role == Role::parameter && other.id != operand && other.axes == before.axes &&
                    module_of(other.name) + before.name.substr(module_of(before.name).size()) == other.name)
                    add(module_of(before.name), module_of(other.name));
        // One of a module's two, such as a norm's bias.
        const auto is_of_module = [&](StepId other) {
            return plan[other].role == Role::parameter && module_of(plan[other].name) == module_of(before.name);
        };
        if (before.role == Role::parameter && std::ranges::count_if(own.operands, is_of_module) > 1)
            for (const Step& other : plan.steps())
                if (other.role == Role::parameter && other.id != operand && other.axes == before.axes)
                    add(before.name, other.name);
        if (before.is_source()) continue;
        if (own.part == Part::add && own.operands.size() > 2) add(before.name, std::string(ReadingEdit::kNothing));
        for (const Step& other : plan.steps())
            if (is_near(other) && other.id != operand && shape_text(other.axes) == shape_text(before.axes))
                add(before.name, other.name);
    }
    for (const Step& other : plan.steps())
        if (is_near(other) && shape_text(other.axes) == shape_text(own.axes))
            add(std::string(ReadingEdit::kItself), other.name);
}

std::optional<Tensor> SuspectReading::outcome(const ReadingEdit& edit, double& steps) const {
    const Step& step = run_.plan()[step_];
    const auto read = edit.operands_of(run_.plan(), step);
    if (!read) return std::nullopt;
    const bool is_other = edit.own == ReadingEdit::kItself;
    steps += static_cast<double>(element_count(step.axes)) *
             static_cast<double>(is_other ? 1 : run_.plan()[read->front()].axes.back().size);
    return wrong_after(run_, step_, wrong_, [&] {
        if (is_other) return run_.value(read->front()).with_axes(step.axes);
        std::map<StepId, Tensor> of_norm;
        for (const StepId before : mutations::steps_before_in_norm(run_.plan(), step_))
            if (const auto also = edit.operands_of(run_.plan(), run_.plan()[before]))
                of_norm.emplace(before,
                                computed(run_, run_.plan()[before].operation, *also, run_.plan()[before].axes, {}));
        return computed(run_, step.operation, *read, step.axes, of_norm);
    });
}

Sentence SuspectReading::sentence(const ReadingEdit& edit) const {
    const Step& step = run_.plan()[step_];
    const Arguments named = {{"step", edit.step}, {"own", edit.own}, {"other", edit.other}};
    if (edit.own == ReadingEdit::kItself)
        return message("{step} is {other}: what is computed between the two is left out.", named);
    if (edit.other == ReadingEdit::kNothing) return message("{own} is not added to {step}.", named);
    const bool of_parameters =
        std::ranges::none_of(step.operands, [&](StepId operand) { return run_.plan()[operand].name == edit.own; });
    if (of_parameters)
        return message("{step} is computed with the parameters of {other} instead of those of {own}.", named);
    return message("{step} reads {other} instead of {own}.", named);
}

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
