#pragma once

#include "app/core/run/scenario.h"
#include "engine/graph/run.h"
#include "engine/load/bundled_models.h"

#include <memory>
#include <string>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::load;

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
