#include "app/core/compare/shown_comparison.h"

#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::diff;
using namespace decoderscope::load;

TEST_CASE("by position: the largest difference over all heads and features of one batch row") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto plain = execute(plan_of(scenario));
    scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    const auto run = execute(plan_of(scenario));
    Derived derived;
    const auto compared = shown_comparison(derived, run, plain, 0.0, [&] { return reference_of("plain", plain); });
    derived.finish();
    const auto comparison =
        compared ? compared : shown_comparison(derived, run, plain, 0.0, [&] { return reference_of("plain", plain); });
    REQUIRE(comparison);
    for (const char* name : {"blocks.0.attn_out", "blocks.1.attn.pattern", "logits"}) {
        for (const Index batch : {Index{0}, Index{1}}) {
            INFO(name << ", batch row " << batch);
            const Step& step = *run->plan().find(name);
            const auto by = shown_by_position(derived, scenario, comparison, step, batch);
            const Tensor &a = run->value(step.id), &b = plain->value(name);
            const std::size_t along = a.rank() == 4 ? 2 : 1;
            REQUIRE(by->positions.size() == static_cast<std::size_t>(a.dim(along)));
            for (std::size_t at = 0; at < by->positions.size(); ++at) {
                double largest = 0.0;
                for (Index i = 0; i < a.size(); ++i) {
                    const Cell cell = a.cell(i);
                    if (cell[0] == batch && cell[along] == static_cast<Index>(at))
                        largest = std::max(largest,
                                           std::abs(static_cast<double>(a.at(cell)) - static_cast<double>(b.at(cell))));
                }
                CHECK(by->positions[at].largest == largest);
                if (largest > 0.0) CHECK(by->positions[at].cell[along] == static_cast<Index>(at));
            }
        }
    }
}
