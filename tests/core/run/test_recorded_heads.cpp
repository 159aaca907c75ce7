// Recorded weights as torch.nn.MultiheadAttention computes them, [batch · head, query, key]: each of its matrices can
// be shown.
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/slice.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/files/safetensors.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::testing;

TEST_CASE("a cell of a recorded tensor of three axes is in the picture of its place, behind each first index") {
    const TemporaryFolder folder;
    const std::string path = folder.file("weights.safetensors");
    Tensor weights({{"", 8}, {"", 3}, {"", 4}});
    for (Index i = 0; i < weights.size(); ++i) weights.writable()[static_cast<std::size_t>(i)] = static_cast<float>(i);
    const Tensor stream({{"", 2}, {"", 3}, {"", 5}});  // of two texts
    write_safetensors(path, {{"embed/out", stream}, {"layers.0.self_attn/softmax/out", weights}});
    const Scenario scenario = scenario_of(load::run_of_trace(path));
    const auto run = execute(plan_of(scenario));
    const Step& step = *run->plan().find("layers.0.self_attn/softmax/out");
    const Axis* axis = outer_axis(step);
    REQUIRE(axis != nullptr);
    CHECK(axis->size == 8);
    CHECK(core::step::headline_of(run->plan(), step) == "Self-attention");  // rather than "The residual stream"
    for (Index head = 0; head < 8; ++head) {
        const Place place = place_of(step, {head, 2, 1}, {}, scenario.query_heads());
        const Slice slice = slice_of(step, place, scenario.query_heads());
        CHECK(slice.find({head, 2, 1}) == std::pair<Index, Index>{2, 1});
        CHECK(heatmap_of(scenario, *run, step, place).values[2 * 4 + 1] == static_cast<float>(head * 12 + 2 * 4 + 1));
        CHECK(slice_of(step, {.outer = head}, scenario.query_heads()).fixed == slice.fixed);
    }
}
