#include "engine/ops/written_formula.h"

#include "engine/base/translate.h"

namespace decoderscope::ops {

OpDescription WrittenFormula::about() const {
    return {tr("a formula"), text, tr("Computed as the formula says, number by number.")};
}

ByFormula WrittenFormula::formula() const {
    ByFormula by{text, {}};
    for (const Named& operand : operands) {
        OperandName& named = by.operands.emplace_back("");
        named.name = operand.name;
        named.role = operand.role;
    }
    for (const auto& [name, value] : numbers) by.numbers.push_back({name, value});
    return by;
}

OpDescription WrittenFormula::about_pull_back(std::size_t) const {
    return {tr("gradient through a formula"), "∂/∂x = Σ g · ∂y/∂x",
            tr("The derivative of the formula, times the gradient with respect to what it computes.")};
}

std::optional<ByFormula> formula_of(const Operation& operation) {
    ByFormula by;
    if (!operation.tell_formula(by) || by.formula.empty()) return std::nullopt;
    return by;
}

std::optional<WrittenFormula> as_written(const Operation& operation, std::size_t operands, const Axes& shape) {
    const std::optional<ByFormula> by = formula_of(operation);
    if (!by) return std::nullopt;
    WrittenFormula written{.text = by->formula, .shape = shape, .declared = operation.traits()};
    for (std::size_t i = 0; i < operands; ++i)
        written.operands.push_back({std::string(by->name_of(i)), operation.role_of(i), operation.passes_gradient(i)});
    for (const NamedNumber& number : by->numbers) written.numbers.emplace_back(number.name, number.value);
    return written;
}

}  // namespace decoderscope::ops
