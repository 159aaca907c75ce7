// The picture of recorded scores that another program filled where they are hidden: its colours span what isn't filled.
#include "app/core/figure/cell_text.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/slice.h"
#include "engine/files/safetensors.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <limits>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::testing;

TEST_CASE("recorded scores are coloured by what isn't filled, and the legend says what the others are") {
    for (const float fill : {std::numeric_limits<float>::lowest(), -1e9F}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("scores.safetensors");
        // [batch, head, query, key]; the second head hides nothing.
        Tensor scores({{axis::batch, 1}, {axis::head, 2}, {axis::query, 3}, {axis::key, 3}});
        for (Index i = 0; i < scores.size(); ++i) {
            const bool hidden = i < 9 && i % 3 > i / 3;
            scores.writable()[static_cast<std::size_t>(i)] = hidden ? fill : 0.25F * static_cast<float>(i - 8);
        }
        write_safetensors(path, {{"h.0.attn/masked_fill/out", scores}});
        const Scenario scenario = scenario_of(load::run_of_trace(path));
        const auto run = execute(plan_of(scenario));
        const Step& step = run->plan()[0];
        const Heatmap first = heatmap_of(scenario, *run, step, {.head = 0});
        REQUIRE(first.hidden.size() == 9);
        for (Index i = 0; i < 9; ++i)
            CHECK((first.hidden[static_cast<std::size_t>(i)] == hidden_by::fill) == (i % 3 > i / 3));
        CHECK(first.range == Range{-2.25F, 2.25F});  // of both heads
        CHECK(filled_text(hidden_by::fill, fill).starts_with(hidden_text(hidden_by::fill)));
        const Heatmap second = heatmap_of(scenario, *run, step, {.head = 1});
        CHECK(second.hidden.empty());
        CHECK(second.range == first.range);
        // What Diff and exports ask for says the same.
        CHECK(range_of_step(*run, step) == first.range);
        CHECK(hidden_cells(*run, step, slice_of(step, {.head = 0}, scenario.query_heads())) == first.hidden);
    }
}
