#pragma once

#include "engine/formulas/formula.h"
#include "engine/ops/formula.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::ops {

// An operation that is nothing but its formula: a mistake's, or one that a person wrote. It has no kernel.
// {the operands, in the order of their names} -> `shape`
struct WrittenFormula {
    struct Named {
        std::string name;
        OperandRole role = OperandRole::input;
        bool gradient = false;  // whether it is handed a gradient
        bool operator==(const Named&) const = default;
    };
    // "weight[…, k] = softmax_k(x[…, k])"; it may call the book's functions, or be a label of the book.
    std::string text;
    std::vector<Named> operands = {};
    std::vector<std::pair<std::string, double>> numbers = {};  // that it may name besides the sizes of axes
    Axes shape = {};
    Traits declared = {};

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return shape; }
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Traits traits() const { return declared; }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operands.at(operand).gradient; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    // The traits follow from the rest.
    bool operator==(const WrittenFormula& other) const {
        return text == other.text && operands == other.operands && numbers == other.numbers && shape == other.shape;
    }
};

// The formula that an operation names; nothing for one without a formula. It must not outlive the operation.
[[nodiscard]] std::optional<ByFormula> formula_of(const Operation& operation);
// An operation as its formula alone, with this many operands and an output of these axes; nothing without a formula.
[[nodiscard]] std::optional<WrittenFormula> as_written(const Operation& operation, std::size_t operands,
                                                       const Axes& shape);

}  // namespace decoderscope::ops
