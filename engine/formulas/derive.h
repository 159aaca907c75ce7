#pragma once

#include "engine/formulas/elaborate.h"

namespace decoderscope::formulas {

// The operand that a derivative reads for the gradient with respect to the formula's value.
inline constexpr std::string_view kGradient = "g";

// The gradient with respect to an operand, as a formula of the operands, of `g` (the gradient with respect to the
// formula's value) and, by the formula's name, of that value: reverse mode on the tree, then simplified. It is
// elaborated with these two among the operands. Conditions, div, mod, floor and `stop` pass nothing; of equal maxima
// the first gets all, of min(a, b) and max(a, b) a. Throws FormulaError if the formula doesn't read the operand.
[[nodiscard]] Formula derivative(const Formula& elaborated, const std::string& operand, const Known& known);
// What `known` is for that derivative.
[[nodiscard]] Known known_to_derivative(const Formula& elaborated, Known known);

}  // namespace decoderscope::formulas
