#pragma once

#include "app/core/work/saved_work.h"

#include <string>
#include <utility>

namespace decoderscope::testing {

inline SavedWork work_of(Scenario scenario) {
    SavedWork work;
    work.scenario = std::move(scenario);
    return work;
}

// The text of a session of a bundled model with these further members.
inline std::string session(const std::string& members) {
    return R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"})" +
           (members.empty() ? "" : ", " + members) + "}";
}

}  // namespace decoderscope::testing
