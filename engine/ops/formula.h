#pragma once

#include "engine/formulas/formula.h"
#include "engine/formulas/reach.h"
#include "engine/graph/operation.h"
#include "engine/ops/words.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::formulas {
struct Manner;
}

// An operation says what it computes by naming a formula of the book (engine/formulas/book.txt). How a cell was
// computed, how its gradient was, and what each operand is to it, follow from the formula; the kernel in compute() is a
// faster way to compute it.
namespace decoderscope::ops {

// What the formula calls an operand; what the operand is to the operation, unless the name says so already.
struct OperandName {
    OperandName(const char* of) : name(of) {}  // NOLINT: written as its name alone
    OperandName(const char* of, OperandRole as) : name(of), role(as) {}
    std::string_view name;
    std::optional<OperandRole> role = std::nullopt;
};

// A number of the configuration that the formula names; `shown` is what explanations call it, if not so.
struct NamedNumber {
    std::string_view name;
    double value = 0.0;
    std::string_view shown = {};
};

// `formula` is a label of the book, or a formula that calls the book's functions. Besides `numbers` it may name the
// axes of the output and the operands ("d_head"), those of one operand ("own_d_head"), and "group": how many of the
// output's heads share one of the second operand's. `line` is what the last line of an explanation is called, if not
// after the formula.
struct ByFormula {
    std::string formula = {};
    std::vector<OperandName> operands = {};
    std::vector<NamedNumber> numbers = {};
    std::string_view line = {};
    std::string_view words = {};  // the label of what it says in words, if `formula` is none

    // The formula itself. Throws formulas::FormulaError if it can't be read.
    [[nodiscard]] formulas::Formula written() const;
    // All numbers that it may name, for operands and an output of these axes.
    [[nodiscard]] std::map<std::string, double, std::less<>> numbers_for(const OperandAxes& in, const Axes& out) const;
    // The formula for operands and an output of these axes, its functions put in place. Throws formulas::FormulaError
    // if it doesn't fit them, or would take more steps than docs/limits.md says.
    [[nodiscard]] formulas::Formula fitted(const OperandAxes& in, const Axes& out) const;
    // In words (engine/ops/words.h); a gradient passes to the operands about whose gradients there are any.
    [[nodiscard]] OpDescription about() const { return described(label()); }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return has_gradient(label(), name_of(operand)); }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const {
        return gradient_described(label(), name_of(operand));
    }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const;
    // The numbers, in double and then rounded: for an operation without a kernel.
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    // As above, as a program would come to them that computes in another manner; slow. An empty tensor if that would
    // take more than so many operations.
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes, const formulas::Manner& manner,
                                 std::uint64_t most) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    // By the formula's derivative, or by the book's own "label.operand".
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;

    // What it takes, and what its gradient does (engine/formulas/work.h). Throws formulas::FormulaError if it doesn't
    // fit.
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const;
    [[nodiscard]] Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const;

    // The cells of the output that read a cell of an operand (engine/formulas/reach.h).
    [[nodiscard]] formulas::Box reached_from(std::size_t operand, const Cell& cell, const Operands& in,
                                             const Axes& out) const;

    // What the formula calls an operand; operands that only say what a step depends on have no name.
    [[nodiscard]] std::string_view name_of(std::size_t operand) const {
        return operand < operands.size() ? operands[operand].name : std::string_view();
    }
    [[nodiscard]] std::string_view label() const { return words.empty() ? std::string_view(formula) : words; }
};

// With how many indices a formula reads an operand; all of the tensor's if it says so with "…", or doesn't read it.
[[nodiscard]] std::size_t rank_in(const formulas::Formula& formula, std::string_view name, std::size_t rank);

}  // namespace decoderscope::ops
