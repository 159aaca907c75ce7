#pragma once

#include "engine/formulas/evaluate.h"
#include "engine/formulas/vectors.h"

#include <cstdint>

// All cells of a formula: row by row, with vector instructions, on all cores.
namespace decoderscope::formulas {

// A node with its names looked up. An index is a place in the scope: the definition's own indices come first, then
// those of the reductions around the node, the outermost first.
struct Code {
    enum class Kind : std::uint8_t { number, index, operand, result, apply, reduce } kind = Kind::number;
    Op op{};
    Fold fold{};
    double value = 0.0;
    std::size_t which = 0;   // the place of an index, also of a reduction's own; an operand; a definition
    Index size = 0;          // that the reduction runs over
    std::uint64_t uses = 0;  // a bit for each place that it depends on
    std::size_t hash = 0;
    std::vector<Code> in;
    bool operator==(const Code&) const = default;

    [[nodiscard]] bool is(Op of) const { return kind == Kind::apply && op == of; }
};
// Places from here on have no bit; `compute` takes no formula that has them.
inline constexpr std::size_t kMostPlaces = 64;

// A definition to be computed. A recurrence comes with its numbers, and with what it is worth outside them.
struct Part {
    Code code;
    Shape shape;
    std::span<const double> known = {};
    double outside = kNaN;
};

// Computes the last of the definitions into `to`, row by row, and of the others what it reads. Throws Error if it is
// stopped.
using Numbers = std::variant<std::span<float>, std::span<double>>;
void compute(std::span<const Part> parts, const Operands& operands, Numbers to, const std::stop_token& stop);

[[nodiscard]] std::size_t count_of(const Shape& shape);

}  // namespace decoderscope::formulas
