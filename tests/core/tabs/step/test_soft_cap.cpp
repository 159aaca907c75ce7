// A soft cap is an operation that no code outside the engine knows. Hatching, checks, recording and export around it
// must still be right.
#include "app/core/checks/invariants.h"
#include "app/core/checks/leak.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/scenario.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::masks;
using namespace decoderscope::core::step;

namespace {

// Two Pre-Norm layers on tokens, scores capped at 0.5 and logits at 2, the second row padded after its third token.
Scenario capped() {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/reference/fixtures/soft-caps";
    Scenario scenario = scenario_of(load_model(folder));
    scenario.inputs = load_inputs(folder + "/inputs.safetensors", scenario.config());
    return scenario;
}

const std::string kScores = "blocks.1.attn.attn_scores", kCapped = "blocks.1.attn.capped_scores",
                  kMasked = "blocks.1.attn.masked_scores";

Leak leak_of(const Scenario& scenario, Index position) {
    const auto run = execute(plan_of(scenario));
    Scenario changed = scenario;
    for (const Edit& edit : leak_variation(scenario, *run, 0, position).more_edits) changed.edits.push_back(edit);
    return finished(leak_between(run, execute(plan_of(changed)), 0, position));
}

bool hatched(const Run& run, const std::string& name) {
    const Step& step = *run.plan().find(name);
    return !hidden_cells(run, step, slice_of(step, {1, 0}, 4)).empty();
}

}  // namespace

TEST_CASE("capped scores stand before the mask: nothing of them is hatched") {
    const auto run = execute(plan_of(capped()));
    CHECK_FALSE(hatched(*run, kScores));
    CHECK_FALSE(hatched(*run, kCapped));
    CHECK(hatched(*run, kMasked));
    CHECK(hatched(*run, "blocks.1.attn.pattern"));
    for (const float score : run->value(kCapped).values()) CHECK(std::abs(score) <= 0.5F);
}

TEST_CASE("the leak test of a capped causal model finds no leak, and finds the one that is there") {
    for (Index position = 1; position < 5; ++position) {
        const Leak leak = leak_of(capped(), position);
        CHECK(leak.earlier == 0.0F);
        CHECK(leak.earlier_moved == 0);
        CHECK_FALSE(leak.moved[static_cast<std::size_t>(position)].first_in.empty());
    }
    Scenario open = capped();
    open.edits = {MaskEdit{.attention = "blocks.0.attn", .query = 1, .key = 4, .keep = true}};
    const Leak leak = leak_of(open, 4);
    CHECK(leak.earlier_moved == 3);  // and two that read it in the next layer
    // The recorded score counts, and it is the raw one that moved first.
    CHECK(leak.moved[1].first_in == "blocks.0.attn.attn_scores");
}

TEST_CASE("every law holds of a capped model") {
    const Scenario scenario = capped();
    const auto found = measure_invariants(*execute(plan_of(scenario)), scenario.config());
    REQUIRE(found);
    for (const Invariant& one : found->all) {
        INFO(title_of(one) << ": " << finding_text(one));
        CHECK(one.verdict == Verdict::kept);
    }
}

TEST_CASE("the fill is compared with the scores that it is put among: the capped ones") {
    const Scenario scenario = capped();
    const auto run = execute(plan_of(scenario));
    const Tensor& scores = run->value(kCapped);
    float lowest = HUGE_VALF;
    for (Index q = 0; q < 5; ++q)
        for (Index k = 0; k <= q; ++k) lowest = std::min(lowest, scores.at(Cell{0, 2, q, k}));
    CHECK(fill_consequences(*run, "blocks.1.attn", {0, 2}, 4, -0.4F).lowest_kept == lowest);
}

TEST_CASE("recording less leaves capped scores out, and computes them again to the bit") {
    const auto plan = plan_of(capped());
    const KeptTensors kept = kept_of(*plan, Recording::patterns, std::nullopt);
    for (const std::string& name : {kScores, kCapped, kMasked}) CHECK_FALSE(kept(*plan->find(name)));
    CHECK(kept(*plan->find("blocks.1.attn.pattern")));
    CHECK(kept(*plan->find("logits")));
    const auto all = execute(plan), less = execute(plan, {.kept = kept.in_a_run()});
    CHECK_FALSE(less->value(kCapped).is_ready());
    const Tensor &a = all->value(kCapped), &b = less->value(kCapped);
    CHECK(std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0);
}

TEST_CASE("capped scores are a step of their attention, on the map and in an export") {
    const Scenario scenario = capped();
    const auto run = execute(plan_of(scenario));
    const Step& step = *run->plan().find(kCapped);
    CHECK(step.attention == "blocks.1.attn");
    bool found = false;
    for (const OutlineBlock& block : outline_of(run->plan()))
        for (const OutlinePart& part : block.parts)
            if (std::ranges::find(part.steps, step.id) != part.steps.end())
                found = block.name == "blocks.1" && part.part == Part::self_attention;
    CHECK(found);
    const Exhibit exhibit = gathered_exhibit({scenario, run}, step, {1, 0}, {.all_heads = true, .all_layers = true});
    REQUIRE(exhibit.panels.size() == 8);
    const Heatmap heatmap = exhibit.panels.back().heatmap();
    CHECK(heatmap.at(2, 4) == run->value(kCapped).at(Cell{1, 3, 2, 4}));
    CHECK(heatmap.scale == Scale::diverging);
    CHECK(heatmap.hidden.empty());
}
