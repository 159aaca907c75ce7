#pragma once

#include "engine/run.h"

#include <string>
#include <vector>

namespace decoderscope {

// How a cell is computed, a line for each quantity on the way, with the largest few of its terms. Empty if the run has
// no such step or cell.
[[nodiscard]] std::vector<std::string> explanation_lines(const Run& run, const std::string& step, const Cell& cell);

// The names of the steps that a step reads.
[[nodiscard]] std::vector<std::string> operand_names(const Plan& plan, const std::string& step);

}  // namespace decoderscope
