#pragma once

#include "app/core/run/scenario.h"
#include "engine/files/block_numbers.h"
#include "engine/graph/explanation.h"
#include "engine/graph/plan.h"

#include <string>

namespace decoderscope::core::step {

// "(0.0625 · 6 = 0.375)", "(0.5 · 3 − 0.25 = 1.25)": a number of a weight as its file holds it, scale first.
[[nodiscard]] std::string stored_text(const packed::StoredNumber& stored);

// Writes the weights' numbers of an explanation as their file holds them, if that is in fewer bits. A weight's own cell
// is also explained in this way.
void show_stored(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                 Explanation& explanation);

}  // namespace decoderscope::core::step
