#pragma once

#include "app/core/run/scenario.h"

#include <optional>

namespace decoderscope::cli {

struct BenchResult {
    double forward_ms = 0.0;      // median over the runs
    double forward_cpu_ms = 0.0;  // of processor time, in all threads: other programs don't affect it
    double unrecorded_ms = 0.0;   // the same with each tensor freed after its last reader
    // The times of the answer to the edits, reusing a run without them: until the last row of the logits is done, and
    // until everything is.
    std::optional<double> edit_ms, edit_complete_ms;
    std::optional<double> with_gradients_ms;  // both ways, every gradient kept, if the scenario asks for gradients
    double with_gradients_cpu_ms = 0.0;
    std::optional<double> token_ms;  // median over the tokens that were written after the first, with the KV cache
    int runs = 0;
    std::size_t recorded_bytes = 0;
};

// Times the recorded forward pass, and if the scenario asks for gradients the backward pass with it, recomputing
// everything each time, after one uncounted warm-up run.
[[nodiscard]] BenchResult bench_forward(const core::Scenario& scenario, int repeat);

// Continues the first row by a token, which is the warm-up, and then by `count` more or to the text's end: the median
// time of a token in milliseconds, including planning and choosing. Throws Error if nothing can be generated, or the
// text ends with the first.
[[nodiscard]] double median_token_ms(const core::Scenario& scenario, int count);

}  // namespace decoderscope::cli
