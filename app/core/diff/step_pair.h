#pragma once

#include "app/core/step/slice.h"

#include <optional>
#include <string>

namespace decoderscope {

// The same step in two runs, and the difference. Cells that a mask hides in either run are left out of range,
// difference and numbers.
struct StepPair {
    Heatmap a, b;          // with one range for both
    Heatmap difference;    // a − b
    double largest = 0.0;  // of |a − b| over the whole tensor; NaN where exactly one of the two is NaN somewhere
    double mean = 0.0;     // of |a − b| over the whole tensor
    Cell where;            // of the largest
};

// Nothing if the step is not computed in both runs, or has different shapes.
[[nodiscard]] std::optional<StepPair> step_pair(const Scenario& a, const Run& run_a, const Scenario& b,
                                                const Run& run_b, const std::string& step, Place place);

// "Same numbers in both." or "They differ by 1.2 at most, 0.31 on average: …".
[[nodiscard]] std::string pair_sentence(const StepPair& pair, const std::string& step);

}  // namespace decoderscope
