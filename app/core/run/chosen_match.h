#pragma once

#include "engine/graph/plan.h"
#include "engine/trace/alignment.h"
#include "engine/trace/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// A match that the user changed: a recorded tensor, and the step that it is; an empty name: none of ours.
struct ChosenMatch {
    std::string theirs, ours;
    bool operator==(const ChosenMatch&) const = default;
};

// What a person chose for a bisection: the tolerance and the matches that were changed.
struct BisectInputs {
    std::optional<double> tolerance;  // nothing: by the trace's precision
    std::vector<ChosenMatch> chosen;
    bool operator==(const BisectInputs&) const = default;
};

// Puts the choices in place of what was aligned. A choice whose tensor or step isn't there, or whose shapes don't fit,
// changes nothing.
void apply_choices(std::vector<trace::Match>& matches, const std::vector<ChosenMatch>& choices, const Plan& plan,
                   const trace::Trace& trace);

// The steps that a recorded tensor may be, by their shapes alone, in the order of computation.
[[nodiscard]] std::vector<std::string> possible_steps(const Plan& plan, const trace::TraceTensor& tensor);

}  // namespace decoderscope::core
