// What can be tried beside an explanation, and what it changes.
#include "app/core/tabs/step/what_if.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/tabs/step/shown_run.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

std::vector<WhatIf> offers(const ShownRun& run, const std::string& step, const Cell& cell, Place place = {}) {
    return what_ifs(run.scenario, *run.run, *run.run->plan().find(step), cell, place);
}

std::set<std::string> ids(const std::vector<WhatIf>& offers) {
    std::set<std::string> ids;
    for (const WhatIf& offer : offers) ids.insert(offer.id);
    return ids;
}

WhatIf offer(const std::vector<WhatIf>& offers, const std::string& id) {
    const auto found = std::ranges::find(offers, id, &WhatIf::id);
    REQUIRE(found != offers.end());
    return *found;
}

std::shared_ptr<const Run> run_with(const ShownRun& run, const Variation& variation) {
    return execute(plan_of(varied(run.scenario, variation)));
}

WhatIfEffect effect(const ShownRun& run, const std::string& step, const Cell& cell, const Variation& variation) {
    return what_if_effect(run.scenario, *run.run, *run_with(run, variation), *run.run->plan().find(step), cell, {});
}

using Ids = std::set<std::string>;

}  // namespace

TEST_CASE("what is offered follows from what the step is") {
    const ShownRun run = shown_run("reverse");
    CHECK(ids(offers(run, "blocks.0.attn.pattern", {0, 0, 2, 1})) ==
          Ids{"scale", "cell", "mask", "fill -1e9", "fill -1e4", "fill 0", "head"});
    CHECK(ids(offers(run, "blocks.0.attn.q", {0, 0, 2, 1})) == Ids{"scale", "head"});
    CHECK(ids(offers(run, "blocks.0.attn_out", {0, 2, 1})) == Ids{"head"});
    CHECK(ids(offers(run, "blocks.0.ln1.normalized", {0, 2, 1})) == Ids{"norm-place"});
    CHECK(ids(offers(run, "blocks.0.resid_mid", {0, 2, 1})) == Ids{"norm-place"});
    CHECK(offers(run, "blocks.0.mlp.pre", {0, 2, 1}).empty());
    CHECK(offers(run, "embed", {0, 2, 1}).empty());
    // Other fills than the one that is there.
    const ShownRun filled = shown_run("reverse", {}, {{"mask_value", "-1e9"}});
    CHECK(ids(offers(filled, "blocks.0.attn.pattern", {0, 0, 2, 1})) ==
          Ids{"scale", "cell", "mask", "fill -inf", "fill -1e4", "fill 0", "head"});
    // The tutorial that uses q_proj for all three.
    const ShownRun shared = shown_run("causal-lm");
    CHECK(ids(offers(shared, "blocks.0.attn.q", {0, 0, 2, 1})).contains("own-projections"));
}

TEST_CASE("without the scale a score is √d_head as large, and its row follows") {
    const ShownRun run = shown_run("reverse");
    const Cell cell = {0, 1, 2, 1};
    const WhatIf unscaled = offer(offers(run, "blocks.0.attn.attn_scores", cell), "scale");
    const WhatIfEffect found = effect(run, "blocks.0.attn.attn_scores", cell, unscaled.variation);
    REQUIRE(found.cell);
    CHECK(found.cell->then == Approx(found.cell->now * 4.0F).epsilon(1e-5));  // d_head = 16
    REQUIRE(found.row);
    CHECK(found.row->tensor == "blocks.0.attn.pattern");
    // The softmax of four times the scores, by hand; of the scores that the other run has: in the first block the
    // queries and keys are the same.
    const Tensor& scores = run.run->value("blocks.0.attn.masked_scores");
    double sum = 0.0;
    for (Index key = 0; key <= 2; ++key) sum += std::exp(4.0 * static_cast<double>(scores.at(Cell{0, 1, 2, key})));
    for (Index key = 0; key <= 2; ++key)
        CHECK(found.row->weights[static_cast<std::size_t>(key)].then ==
              Approx(std::exp(4.0 * static_cast<double>(scores.at(Cell{0, 1, 2, key}))) / sum).margin(1e-5));
    REQUIRE(found.says);
    CHECK(found.says->position == 2);
    CHECK(found.says->probability_now ==
          Approx(run.run->value("probs").at(Cell{0, 2, *found.says->token_now})).epsilon(1e-4));
}

TEST_CASE("−1e9 and −∞ differ in nothing while every query sees a key, and in a row that sees nothing") {
    const ShownRun run = shown_run("reverse");
    const std::string step = "blocks.0.attn.pattern";
    const Cell cell = {0, 1, 2, 1};
    const WhatIf fill = offer(offers(run, step, cell), "fill -1e9");
    CHECK(fill.is_fill);
    const WhatIfEffect same = effect(run, step, cell, fill.variation);
    CHECK(same.nothing_changed());
    CHECK(same.row->moved.empty());
    CHECK(same.moves.changed.empty());

    auto blind = blind_query(run.scenario, *run.run->plan().find(step), cell, {});
    REQUIRE(blind);
    const auto now = run_with(run, *blind);
    blind->overrides = fill.variation.overrides;
    const auto then = run_with(run, *blind);
    const WhatIfEffect parted = what_if_effect(run.scenario, *now, *then, *run.run->plan().find(step), cell, {});
    REQUIRE(parted.row);
    REQUIRE(parted.row->of_every_key_now());
    CHECK(std::isnan(*parted.row->of_every_key_now()));
    REQUIRE(parted.row->of_every_key_then());
    const auto keys = static_cast<float>(parted.row->weights.size());
    CHECK(*parted.row->of_every_key_then() == Approx(1.0F / keys));
    CHECK_FALSE(parted.nothing_changed());
}

TEST_CASE("a mask taken off, a key hidden, a head off") {
    const ShownRun run = shown_run("reverse");
    const std::string step = "blocks.0.attn.pattern";
    const std::vector<WhatIf> hidden = offers(run, step, {0, 1, 1, 3}), seen = offers(run, step, {0, 1, 3, 1});
    CHECK(tr(offer(hidden, "cell").label) == "if the query saw this key");
    CHECK(tr(offer(seen, "cell").label) == "if the query did not see this key");
    CHECK(run.run->value(step).at(Cell{0, 1, 1, 3}) == 0.0F);
    CHECK(effect(run, step, {0, 1, 1, 3}, offer(hidden, "cell").variation).cell->then > 0.0F);
    CHECK(effect(run, step, {0, 1, 1, 3}, offer(hidden, "mask").variation).cell->then > 0.0F);
    CHECK(effect(run, step, {0, 1, 3, 1}, offer(seen, "cell").variation).cell->then == 0.0F);
    const WhatIfEffect off = effect(run, "blocks.0.attn.z", {0, 1, 3, 1},
                                    offer(offers(run, "blocks.0.attn.z", {0, 1, 3, 1}), "head").variation);
    CHECK(off.cell->then == 0.0F);
    CHECK(off.row->moved.empty());  // the pattern comes before z
    CHECK(off.moves.largest > 0.0);
    // All rows of the batch, without padding.
    const Tensor& mask = run.scenario.inputs.attention_mask;
    CHECK(off.moves.positions == std::ranges::count(mask.values(), 1.0F));
}

TEST_CASE("k and v of their own where the tutorial shares q's projection") {
    const ShownRun run = shown_run("causal-lm");
    const Cell cell = {0, 0, 2, 1};
    const WhatIf own = offer(offers(run, "blocks.0.attn.attn_scores", cell), "own-projections");
    const WhatIfEffect found = effect(run, "blocks.0.attn.attn_scores", cell, own.variation);
    REQUIRE(found.cell);
    CHECK(found.cell->now != found.cell->then);
    CHECK_FALSE(found.row->moved.empty());
    CHECK(run_with(run, own.variation)->plan().find("layers.0.self_attn.k_proj.weight") != nullptr);
}
