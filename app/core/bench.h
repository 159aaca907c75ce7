#pragma once

#include "app/core/scenario.h"

namespace decoderscope {

struct BenchResult {
    double forward_ms = 0.0;  // median over the runs
    int runs = 0;
    std::size_t recorded_bytes = 0;
};

// Times the recorded forward pass, everything computed anew each time, after one run that is not counted.
[[nodiscard]] BenchResult bench_forward(const Scenario& scenario, int repeat);

}  // namespace decoderscope
