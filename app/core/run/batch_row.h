#pragma once

#include "app/core/run/scenario.h"
#include "engine/graph/plan.h"

#include <optional>

namespace decoderscope::core {

// The scenario with this row of its batch alone, as row 0, and with the edits that reach it: what is computed for one
// row many times need not be computed for the others as well. Nothing if the batch has no other rows, or if they may
// not be independent (dropout, a mistake), or if nothing is computed. `plan` is the scenario's.
[[nodiscard]] std::optional<Scenario> only_row(const Scenario& scenario, const Plan& plan, Index row);

}  // namespace decoderscope::core
