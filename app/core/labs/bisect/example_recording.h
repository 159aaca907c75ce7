#pragma once

#include "app/core/run/scenario.h"
#include "engine/base/message.h"

#include <optional>
#include <string>

// A recording to try bisect on without one of your own: the same model on the same input, written with a mistake.
namespace decoderscope::core::bisect {

struct ExampleRecording {
    std::string mutation;  // its name (engine/mutations/)
    std::string path;      // of the file
};

// Whether there is one. Only bundled models have one: they are small enough to be run at once.
[[nodiscard]] bool has_example_recording(const Scenario& scenario);

// Runs the scenario without its edits with the first mistake that changes its predictions, and writes every tensor to a
// file in the folder for temporary files. Throws Error if that can't be written.
[[nodiscard]] ExampleRecording write_example_recording(Scenario scenario);

}  // namespace decoderscope::core::bisect
