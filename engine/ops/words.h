#pragma once

#include "engine/graph/operation.h"

#include <string_view>

// What operations say in words: assets/tables/operations.json, by the labels of the book of formulas
// (engine/formulas/book.txt), from which the formula is shown unless the table writes it in a better way to read.
namespace decoderscope::ops {

// Throws std::out_of_range for a label that the table doesn't have.
[[nodiscard]] OpDescription described(std::string_view label);

// Of the gradient with respect to an operand, by its name in the formula. Only an operand to which the operation hands
// a gradient has one.
[[nodiscard]] bool has_gradient(std::string_view label, std::string_view operand);
[[nodiscard]] OpDescription gradient_described(std::string_view label, std::string_view operand);

}  // namespace decoderscope::ops
