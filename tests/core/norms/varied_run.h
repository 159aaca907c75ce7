#pragma once

#include "app/core/session/scenario.h"
#include "engine/model/bundled.h"
#include "engine/run.h"

#include <memory>
#include <string>

namespace decoderscope::testing {

// A variation of a bundled model, and its run.
struct Ran {
    Scenario scenario;
    std::shared_ptr<const Run> run;
};

inline Ran ran(const std::string& model, const Variation& variation) {
    FreshWeights fresh;
    const Scenario scenario =
        with_weights_of(variation, varied(scenario_of(make_bundled_model(model)), variation), fresh);
    return {scenario, execute(plan_of(scenario))};
}

}  // namespace decoderscope::testing
