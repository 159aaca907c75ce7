#include "app/core/tabs/bisect/shown_bisection.h"

#include "app/core/run/comparison.h"
#include "app/core/tabs/bisect/bisection.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;

TEST_CASE(
    "every bundled model that computes has an example to bisect, which differs from it and shows no mistake by name") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const Scenario scenario = scenario_of(make_bundled_model(model.name));
        REQUIRE(has_example_recording(scenario));
        const ExampleRecording example = write_example_recording(scenario);
        CHECK(example.path.find(example.mutation) == std::string::npos);
        const auto run = execute(plan_of(scenario));
        const Comparison comparison = compare(recorded_tensors(*run), read_trace(example.path).tensors, 1e-4);
        CHECK(comparison.over + comparison.unmatched > 0);
    }
}
