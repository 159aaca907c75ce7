#pragma once

#include "app/core/run/exhibit_step.h"
#include "engine/load/bundled_models.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::load;

// A bundled model run on its own example, with these configuration keys and on-demand tensors.
inline ShownRun shown_run(const std::string& model, const std::vector<std::string>& asked = {},
                          const Overrides& overrides = {}) {
    Scenario scenario = with_overrides(scenario_of(make_bundled_model(model)), overrides);
    auto run = execute(plan_of(scenario), {.asked = asked});
    return {std::move(scenario), std::move(run)};
}

}  // namespace decoderscope::testing
