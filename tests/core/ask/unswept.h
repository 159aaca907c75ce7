#pragma once

#include "app/core/ask/vary.h"
#include "app/core/ask/watch.h"
#include "engine/load/model.h"

#include <memory>
#include <string>
#include <vector>

// What the tests of sweeps begin with.
namespace decoderscope::testing {

// A bundled model's run on its example, and a row to watch.
inline core::ask::Unswept unswept_of(const std::string& model, const std::string& row) {
    core::ask::Unswept unswept{.scenario = core::scenario_of(load::load_model(model))};
    unswept.run = execute(core::plan_of(unswept.scenario));
    unswept.row = core::ask::row_from(row, unswept.run->plan());
    return unswept;
}

// One run by itself.
inline std::shared_ptr<const Run> run_with(const core::Scenario& scenario, const core::Variation& variation) {
    return execute(core::plan_of(core::varied(scenario, variation)));
}

inline std::vector<float> numbers(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }

}  // namespace decoderscope::testing
