#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/session/scenario.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace decoderscope {

// A run beside the one that is shown.
struct Companion {
    Variation variation;
    Scenario scenario;
    std::shared_ptr<const Run> run;  // nullptr where it failed, or is still being computed
    std::string error;
    std::shared_ptr<const Run> beside;  // the run that it was computed beside: another one means that it is behind
};

// What there is to show: a computed run, what it was computed for, and the same without edits. Immutable.
struct Snapshot {
    Scenario scenario;
    std::shared_ptr<const Run> run;
    std::shared_ptr<const Run> unedited;  // the run itself where there are no edits
    // The run that is to take its place, as far as it was computed: the step on the stage and what it is made from.
    std::shared_ptr<const Run> early;
    std::map<std::string, Companion> companions;
    std::uint64_t version = 0;                       // another number for other numbers
    std::shared_ptr<const ReferenceRun> pinned;      // the run that was kept; nullptr where none was
    std::shared_ptr<const ReferenceRun> trace_file;  // the file that is compared with; nullptr where none is

    // The run to show this step's values from.
    [[nodiscard]] const Run& run_of(const Step& step) const;
    // The companion of that name, if its run is there; else nullptr.
    [[nodiscard]] const Companion* companion(const std::string& name) const;
};

}  // namespace decoderscope
