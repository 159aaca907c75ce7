#include "app/core/labs/bisect/example_recording.h"

#include "engine/base/error.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace decoderscope::core::bisect {

namespace {

// Mistakes that are easy to make and worth meeting first.
constexpr std::array<std::string_view, 4> kMistakes = {"causal-one-too-far", "no-final-norm", "no-residual-mlp",
                                                       "no-scale"};

// The first that changes this plan.
std::string_view mistake_for(Scenario scenario) {
    const std::shared_ptr<const Plan> right = plan_of(scenario);
    for (const std::string_view name : kMistakes) {
        scenario.mutation = name;
        try {
            if (mutations::first_changed(*right, *plan_of(scenario)) != nullptr) return name;
        } catch (const Error&) {  // not of this architecture
        }
    }
    return {};
}

}  // namespace

bool has_example_recording(const Scenario& scenario) {
    return scenario.computes() && std::ranges::any_of(load::bundled_models(), [&](const load::BundledModel& model) {
               return model.name == scenario.about().name;
           });
}

ExampleRecording write_example_recording(Scenario scenario) {
    scenario.edits.clear();
    scenario.gradient_target.clear();
    const std::string_view mistake = mistake_for(scenario);
    if (mistake.empty()) throw Error("No mistake is known that this model could be recorded with.");
    scenario.mutation = mistake;
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("decoderscope-example-" + scenario.about().name + ".safetensors");
    write_safetensors(file.string(), recorded_tensors(*execute(plan_of(scenario))));
    return {std::string(mistake), file.string()};
}

}  // namespace decoderscope::core::bisect
