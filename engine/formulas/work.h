#pragma once

#include "engine/formulas/code.h"
#include "engine/graph/work.h"

#include <span>

namespace decoderscope::formulas {

// What computing all cells of a formula takes: the one place where operations are counted. An expression is computed
// once for each combination of the indices that it depends on, and what is the same for all summands of a sum once for
// the sum: Σ_d q[d] · k[d] / √d_head takes 2 · d_head + 1 operations.
[[nodiscard]] Work work_of(std::span<const CodedDefinition> parts, std::span<const Shape> operands);

}  // namespace decoderscope::formulas
