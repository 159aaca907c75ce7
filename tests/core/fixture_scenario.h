#pragma once

#include "app/core/run/scenario.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"

#include <string>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::load;

// A case computed by PyTorch (tests/reference/fixtures), as a scenario.
inline Scenario fixture_scenario(const std::string& name) {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/reference/fixtures/" + name;
    Scenario scenario = scenario_of(load_model(folder));
    scenario.inputs = load_inputs(folder + "/inputs.safetensors", scenario.config());
    return scenario;
}

}  // namespace decoderscope::testing
