#pragma once

#include "engine/formulas/code.h"
#include "engine/formulas/evaluate.h"

#include <optional>
#include <span>
#include <vector>

namespace decoderscope::formulas {

// Cells as a box: for each axis the indices that they have, in order. Of cells that are no box, the smallest one around
// them. No cell at all is a box with an axis without an index.
using Box = std::vector<std::vector<Index>>;

[[nodiscard]] bool is_empty(const Box& box);
[[nodiscard]] Box box_of(std::span<const Index> cell);
// The smallest box around both; either may be empty.
[[nodiscard]] Box around(const Box& a, const Box& b);

// The cells of a formula's result that read cells of an operand, whatever their numbers: what a mask hides or a branch
// leaves out is read, too. An index that is itself read from an operand (the number of a token) is looked up in
// `numbers`, which are as the coded definitions name them.
[[nodiscard]] Box reached_from(std::span<const CodedDefinition> parts, const Operands& numbers, std::size_t operand,
                               const Box& cells);

}  // namespace decoderscope::formulas
