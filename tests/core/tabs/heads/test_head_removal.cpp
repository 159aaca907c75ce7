// Which heads can go: against runs with an edit that switches each off, for the whole batch.
#include "app/core/tabs/heads/head_scores.h"

#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::heads;
using namespace decoderscope::load;

namespace {

Index best(const Tensor& logits, Index row, Index position) {
    Index found = 0;
    for (Index id = 1; id < logits.dim(2); ++id)
        if (logits.at(Cell{row, position, id}) > logits.at(Cell{row, position, found})) found = id;
    return found;
}

}  // namespace

TEST_CASE("what each head's removal changes is what an edit that switches it off changes") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto run = execute(plan_of(scenario));
    const HeadRemovals removals = finished(measure_removals(run, scenario.inputs.attention_mask));
    REQUIRE(removals.heads.size() == 24);  // 2 encoder, 2 decoder, 2 cross-attentions of 4
    CHECK(removals.positions == 20);
    std::size_t safe = 0;
    for (std::size_t i = 0; i < removals.heads.size(); ++i) {
        const HeadRemoval& head = removals.heads[i];
        INFO(head.attention << " head " << head.head);
        Scenario off = scenario;
        off.edits = {ScaleHead{head.attention, head.head, 0.0F}};
        const auto without = execute(plan_of(off));
        const Tensor &before = run->value("logits"), &after = without->value("logits");
        double largest = 0.0;
        Index changed = 0;
        for (Index row = 0; row < before.dim(0); ++row) {
            for (Index position = 0; position < before.dim(1); ++position) {
                if (scenario.inputs.attention_mask.at(Cell{row, position}) == 0.0F) continue;
                changed += best(before, row, position) != best(after, row, position) ? 1 : 0;
                for (Index id = 0; id < before.dim(2); ++id)
                    largest = std::max(largest, std::abs(static_cast<double>(after.at(Cell{row, position, id})) -
                                                         static_cast<double>(before.at(Cell{row, position, id}))));
            }
        }
        CHECK(head.changed == changed);
        CHECK(std::abs(head.largest - largest) <= 1e-5 * std::max(1.0, largest));
        if (i > 0) CHECK(head.changed >= removals.heads[i - 1].changed);
        safe += changed == 0 ? 1 : 0;
    }
    CHECK(removals_sentence(removals).english() ==
          std::to_string(safe) + " of 24 heads can each be removed without changing a prediction.");
}

TEST_CASE("a head that is off already doesn't count as one that can go") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    const HeadRemovals removals =
        finished(measure_removals(execute(plan_of(scenario)), scenario.inputs.attention_mask));
    CHECK(removals.off == 1);
    CHECK(removals.heads.size() == 23);
    CHECK(std::ranges::none_of(
        removals.heads, [](const HeadRemoval& head) { return head.attention == "blocks.0.attn" && head.head == 1; }));
    const std::string said = removals_sentence(removals).english();
    CHECK(said.find("of 23 heads") != std::string::npos);
    CHECK(said.ends_with("1 more is off already."));
}

TEST_CASE("a run whose logits are NaN can't say which of its heads could go") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    scenario.edits = {SetCell{"lm_head.weight", {0, 0}, std::numeric_limits<float>::quiet_NaN()}};
    const HeadRemovals removals =
        finished(measure_removals(execute(plan_of(scenario)), scenario.inputs.attention_mask));
    REQUIRE(removals.heads.size() == 24);
    CHECK(removals_sentence(removals).english() ==
          "Without any one of 24 heads, logits still has NaN, which can't be compared.");
    for (const HeadRemoval& head : removals.heads)
        CHECK(removal_sentence(removals, head).english() == "logits: still NaN at 20 of 20 positions");
}
