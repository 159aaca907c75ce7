#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/generate/sampling.h"
#include "app/core/session/scenario.h"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace decoderscope {

// The parts of the work that can differ from what was opened or last saved.
enum class WorkPart { edits, input, settings, sampling, pin };
inline constexpr std::array<std::string_view, 5> kWorkPartNames = {"edits", "input", "settings", "sampling", "pin"};

// The work at one moment, to compare the present one with.
struct WorkMark {
    Scenario scenario;
    Sampling sampling;
    std::shared_ptr<const ReferenceRun> pinned;
};

// What differs between the two; empty if saving would write the same.
[[nodiscard]] std::vector<WorkPart> changed_parts(const WorkMark& before, const WorkMark& now);

}  // namespace decoderscope
