#pragma once

#include "app/core/session/scenario.h"

#include <optional>

namespace decoderscope {

struct BenchResult {
    double forward_ms = 0.0;     // median over the runs
    double unrecorded_ms = 0.0;  // the same where each tensor is let go of as soon as nothing reads it any more
    // The same of the answer to the edits, what a run without them leaves to compute: until the last row of the logits
    // is there, and until all is.
    std::optional<double> edit_ms, edit_complete_ms;
    int runs = 0;
    std::size_t recorded_bytes = 0;
};

// Times the recorded forward pass, everything computed anew each time, after one run that is not counted.
[[nodiscard]] BenchResult bench_forward(const Scenario& scenario, int repeat);

}  // namespace decoderscope
