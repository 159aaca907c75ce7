#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/chosen_match.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "app/core/tabs/bisect/bisection.h"
#include "engine/base/message.h"

#include <memory>
#include <string>
#include <vector>

namespace decoderscope::core::bisect {

// A recording to try bisect on without one of your own: the same model on the same input, written with a mistake.
struct ExampleRecording {
    std::string mutation;  // its name (engine/mutations/)
    std::string path;      // of the file
};

// Whether there is one. Only bundled models have one: they are small enough to be run at once.
[[nodiscard]] bool has_example_recording(const Scenario& scenario);

// Runs the scenario without its edits with the first mistake that changes its predictions, and writes every tensor to a
// file in the folder for temporary files. Throws Error if that can't be written.
[[nodiscard]] ExampleRecording write_example_recording(Scenario scenario);

// A bisection of the model that is shown, as the window asks for it.
struct ShownBisection {
    static constexpr std::size_t kKept = 2;

    Bisection found;
    Sentence error;  // why it could not be made; otherwise empty
};

// Empty while it is under way; no longer asking for it cancels it. Without a recorded input that fits the model it runs
// on the model's own.
[[nodiscard]] Value<ShownBisection> shown_bisection(Derived& derived, const Snapshot& shown,
                                                    const std::shared_ptr<const trace::Trace>& trace,
                                                    const BisectInputs& question);
// How much of it is done, from 0 to 1.
[[nodiscard]] double bisection_progress(Derived& derived, const Snapshot& shown,
                                        const std::shared_ptr<const trace::Trace>& trace, const BisectInputs& question);

// The steps that a recorded tensor may be.
struct PossibleSteps {
    std::vector<std::string> names;
};
[[nodiscard]] Value<PossibleSteps> shown_possible_steps(Derived& derived, const Snapshot& shown,
                                                        const std::shared_ptr<const trace::Trace>& trace,
                                                        const std::string& tensor);

}  // namespace decoderscope::core::bisect
