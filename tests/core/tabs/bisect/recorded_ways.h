#pragma once

#include "app/core/run/open_model.h"
#include "app/core/tabs/bisect/bisection.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/model.h"
#include "tests/engine/recorded_traces.h"

#include <map>
#include <memory>
#include <string>
#include <variant>

// The ways of writing a decoder that PyTorch recorded (tests/reference/bugs), and what bisect says of one.
namespace decoderscope::testing {

inline Overrides settings_of(const std::string& way) {
    Overrides settings;
    const nlohmann::json said = nlohmann::json::parse(read_text(kTraces + way + "/set.json"));
    for (const auto& [key, value] : said.items())
        settings.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return settings;
}

// The way's model, written as it should be, on what the recorded one was given.
inline core::Scenario scenario_for(const std::string& way, const trace::Trace& trace) {
    static std::map<std::string, std::shared_ptr<const load::Model>> models;
    auto& model = models[way];
    if (!model)
        model = std::get<std::shared_ptr<const load::Model>>(
            core::open_model(kTraces + way + "/model.safetensors", core::OpenAs::model, settings_of(way)));
    core::Scenario scenario = core::scenario_of(model);
    scenario.inputs = core::inputs_of_trace(trace, scenario.config());
    check_inputs(scenario.inputs, scenario.config());
    return scenario;
}

// The step that differs first; empty if none does.
inline std::string first_of(const core::bisect::Bisection& bisection) {
    return bisection.first ? bisection.checks[*bisection.first].ours : std::string();
}

}  // namespace decoderscope::testing
