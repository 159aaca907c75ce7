#pragma once

#include "app/core/bisect/bisect_question.h"
#include "engine/plan.h"
#include "engine/trace/alignment.h"
#include "engine/trace/trace.h"

#include <string>
#include <vector>

namespace decoderscope {

// Puts the choices in place of what was aligned. A choice whose tensor or step isn't there, or whose shapes don't fit,
// changes nothing.
void apply_choices(std::vector<Match>& matches, const std::vector<ChosenMatch>& choices, const Plan& plan,
                   const Trace& trace);

// The steps that a recorded tensor may be, by their shapes alone, in the order of computation.
[[nodiscard]] std::vector<std::string> possible_steps(const Plan& plan, const TraceTensor& tensor);

}  // namespace decoderscope
