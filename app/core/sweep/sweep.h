#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/sweep/points.h"
#include "engine/tensor/tensor.h"

#include <atomic>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

// One row's value in many runs that differ in one thing.
namespace decoderscope::core::sweep {

// How many numbers the row may have in all runs together.
inline constexpr Index kMostNumbers = 10'000'000;

struct Result {
    std::vector<At> at;
    Tensor value;
    // Against the unswept run; nothing if the model predicts no tokens, or if they weren't asked for.
    std::optional<Index> predictions_changed = std::nullopt;
};

struct Sweep {
    std::string row;                  // the tensor's name
    std::vector<std::string> varied;  // beside each result's `at`
    std::vector<Result> results;      // in the order of the points; fewer if it was stopped
    bool predicts = false;            // whether results say how many predictions changed
    std::optional<Tensor> unswept;    // the row without any change; nothing if its formula names a number that varies
};

struct SweepOptions {
    bool predictions = true;                   // computing them may take longest, with a large vocabulary
    std::atomic<std::size_t>* done = nullptr;  // counts the finished runs
};

// Computes the row in every run, one run after the other. Each reuses what it can from the unswept one and computes
// only what the row and the predictions need. Pauses between steps; stops between two. Throws Error naming the point
// that can't be run, or if the row has too many numbers.
[[nodiscard]] Resumable<Sweep> swept(Unswept unswept, Points points, SweepOptions options = {},
                                     std::stop_token stop = {});

// The sweep with its results by the row's value, the largest first, NaN last. Throws Error if it is not one number.
[[nodiscard]] Sweep sorted(Sweep sweep);

}  // namespace decoderscope::core::sweep
