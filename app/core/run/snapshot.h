#pragma once

#include "app/core/run/comparison.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace decoderscope::core {

// A run computed in addition to the one that is shown.
struct Companion {
    Variation variation;
    Scenario scenario;
    std::shared_ptr<const Run> run;  // nullptr if it failed or is still being computed
    Sentence error;
    std::shared_ptr<const Run> beside;  // the main run it was computed with: if that has changed, this is out of date
};

// What can be shown: a computed run, its scenario, and the same run without edits. Immutable.
struct Snapshot {
    Scenario scenario;
    std::shared_ptr<const Run> run;
    std::shared_ptr<const Run> unedited;  // the run itself if there are no edits
    // The run that is to replace it, as far as computed: the step on the stage and what it is computed from.
    std::shared_ptr<const Run> early;
    std::map<std::string, Companion> companions;
    std::uint64_t version = 0;                       // changes whenever the values do
    std::shared_ptr<const ReferenceRun> pinned;      // the pinned run; nullptr if none
    std::shared_ptr<const ReferenceRun> trace_file;  // the file to compare with; nullptr if none

    // The run to show the values of this step of `run` from: the early one only where it computes the step in the same
    // way, so that what explains a number belongs to the plan that is shown.
    [[nodiscard]] const Run& run_of(const Step& step) const;
    // The companion of that name, if its run is there and was computed beside the run that is shown; otherwise nullptr.
    [[nodiscard]] const Companion* companion(const std::string& name) const;
};

}  // namespace decoderscope::core
