#pragma once

#include "engine/ops/formula.h"

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::ops {

// Where a pass stands in its text. The positions that an operation reads, and its `first` of them, are those of the
// keys, with what a KV cache keeps.
struct Places {
    Index first = 0;     // how many positions come before
    bool given = false;  // their numbers are an operand; otherwise they are counted from 0

    // The label of the formula for these places: "learned", "learned_at".
    [[nodiscard]] std::string label(std::string_view of) const { return std::string(of) + (given ? "_at" : ""); }
    // The operands of the formula, with these numbers if they are given.
    [[nodiscard]] std::vector<OperandName> with_numbers(std::vector<OperandName> operands) const;
    [[nodiscard]] NamedNumber past() const { return {"past", static_cast<double>(first)}; }
    // The number of a position of this pass, which an edit may set to any; `operand` is the one that has the numbers.
    [[nodiscard]] float number(const Operands& in, std::size_t operand, Index row, Index position) const;
    // Those of so many positions of all rows, one row after the other; only one row if they are counted.
    [[nodiscard]] std::vector<float> numbers(const Operands& in, std::size_t operand, Index count) const;
    // A factor that follows from a position's number.
    [[nodiscard]] Factor factor(double value, std::string text, std::size_t operand, Index row, Index position) const;
    [[nodiscard]] Places from_row(Index row) const { return {first + row, given}; }
    bool operator==(const Places&) const = default;
};

}  // namespace decoderscope::ops
