#pragma once

#include "app/core/diff/comparison.h"
#include "app/core/picture/heatmap.h"
#include "app/core/session/scenario.h"
#include "app/core/step/slice.h"
#include "engine/trace/trace.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// What the shown run is compared with: B. A run, or the tensors of a file.
struct ReferenceRun {
    std::string label;  // "without edits", "trace.safetensors"
    NamedTensors tensors;
    std::shared_ptr<const Run> run;            // nullptr for a file
    std::shared_ptr<const Scenario> scenario;  // the run's; nullptr for a file
    std::string path;                          // the file's, absolute; empty for a run
    std::shared_ptr<const Trace> trace;        // the file's, with its calls; nullptr for a run

    // nullptr if it has no tensor of that name.
    [[nodiscard]] const Tensor* find(const std::string& name) const;
};

[[nodiscard]] ReferenceRun reference_of(std::string label, std::shared_ptr<const Run> run);

// Every tensor of a trace (engine/trace/trace.h), in the order of recording; integers are read as floats. Throws Error
// naming the file and what was expected.
[[nodiscard]] ReferenceRun read_trace(const std::string& path);

// A run in a few words, to tell it from others: "causal-lm, Pre-Norm, 2 edits".
[[nodiscard]] std::string description_of(const Scenario& scenario);

// The configuration keys and values, other than its own, with which the same model, weights and input can be run.
[[nodiscard]] Overrides alternatives_to(const Scenario& scenario);

// One slice of a step in A and in B, and the difference.
struct DifferencePictures {
    Heatmap a, b, difference;        // a and b over the same range; difference is a − b
    std::vector<std::uint8_t> over;  // [row, column]: |a − b| > tolerance
};

// The pictures of a step of A at a place. `other` is B's tensor of that name and of the same shape; `other_run` is its
// run, if any.
[[nodiscard]] DifferencePictures difference_pictures(const Scenario& scenario, const Run& run, const Step& step,
                                                     Place place, const Tensor& other, const Run* other_run,
                                                     double tolerance);

}  // namespace decoderscope
