// The merge of the heads shows all of them side by side.
#include "app/core/run/slice.h"
#include "tests/catch.h"
#include "tests/core/tabs/step/shown_run.h"

using namespace decoderscope;
using namespace decoderscope::core;
using decoderscope::testing::shown_run;

TEST_CASE("beside what joins them, all heads stand side by side with their names") {
    const ShownRun run = shown_run("reverse");
    const Plan& plan = run.run->plan();
    const Step &z = *plan.find("blocks.0.attn.z"), &out = *plan.find("blocks.0.attn_out");
    const Place place = place_beside(z, out, {1, 2});
    const Heatmap all = heatmap_of(run.scenario, *run.run, z, place);
    CHECK(all.rows == z.axes[2].size);
    CHECK(all.columns == 4 * 16);
    const Slice slice = slice_of(z, place, 4);
    const Tensor& values = run.run->value(z.id);
    for (Index head = 0; head < 4; ++head) {
        CHECK(all.column_labels[static_cast<std::size_t>(head * 16)] == "head " + std::to_string(head));
        for (Index d = 0; d < 16; ++d) {
            const Cell cell = {1, head, 3, d};
            CHECK(all.at(3, head * 16 + d) == values.at(cell));
            CHECK(slice.cell(3, head * 16 + d) == cell);
            CHECK(slice.find(cell) == std::pair<Index, Index>{3, head * 16 + d});
        }
    }
    CHECK_FALSE(slice.find({0, 1, 3, 2}));
    // Beside a result with heads of its own there is one: the one that made it.
    CHECK(place_beside(z, *plan.find("blocks.0.attn.result"), {1, 2}) == Place{1, 2});
    CHECK(place_beside(*plan.find("blocks.0.ln1.normalized"), out, {1, 2}) == Place{1, 2});
}
