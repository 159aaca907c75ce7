// The weights behind a score: against the sum Σ x·W·k / √d that it is, written out here.
#include "app/core/tabs/step/row_reading.h"

#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::step;
using namespace decoderscope::load;

namespace {

Value<ShownScoreWeights> weights_of(Derived& derived, const Snapshot& shown, const ScoreCell& score) {
    Value<ShownScoreWeights> found = shown_score_weights(derived, shown, score);
    while (!found) {
        derived.finish();
        found = shown_score_weights(derived, shown, score);
    }
    return found;
}

}  // namespace

TEST_CASE("a score is made of its weights: the largest are the largest products with them, and all add up to it") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    Snapshot shown{.scenario = scenario, .run = execute(plan_of(scenario))};
    shown.unedited = shown.run;
    const Run& run = *shown.run;
    constexpr Index kHead = 3, kQuery = 4, kKey = 3;
    const Step& pattern = *run.plan().find("blocks.1.cross_attn.pattern");
    const std::optional<ScoreCell> score = score_of(run.plan(), pattern, {0, kHead, kQuery, kKey});
    REQUIRE(score);
    CHECK(score->tensor == "blocks.1.cross_attn.attn_scores");
    Derived derived;
    const auto weights = weights_of(derived, shown, *score);
    CHECK(weights->error.empty());
    REQUIRE(weights->projections.size() == 2);
    const double value = static_cast<double>(run.value(score->tensor).at(score->cell));
    for (const ProjectionParts& parts : weights->projections) {
        INFO(parts.weight);
        CHECK(std::abs(parts.sum + parts.of_bias - value) <= 1e-4 * std::abs(value));
    }

    // q_proj's, by hand: x W k / √d.
    const ProjectionParts& of_q = weights->projections.front();
    CHECK(of_q.weight == "layers.1.cross_attn.q_proj.weight");
    const Step& q = *run.plan().find("blocks.1.cross_attn.q");
    const Tensor &x = run.value(q.operands.front()), &k = run.value("blocks.1.cross_attn.k"),
                 &w = run.value("layers.1.cross_attn.q_proj.weight");
    REQUIRE_FALSE(x.empty());
    const Index d_head = k.dim(3);
    Cell largest;
    double most = 0.0;
    for (Index i = 0; i < d_head; ++i) {
        for (Index j = 0; j < w.dim(1); ++j) {
            const double made =
                static_cast<double>(x.at(Cell{0, kQuery, j})) * static_cast<double>(w.at(Cell{kHead * d_head + i, j})) *
                static_cast<double>(k.at(Cell{0, kHead, kKey, i})) / std::sqrt(static_cast<double>(d_head));
            if (std::abs(made) <= std::abs(most)) continue;
            most = made;
            largest = {kHead * d_head + i, j};
        }
    }
    REQUIRE(of_q.largest.size() == kMostWeights);
    CHECK(of_q.largest.front().cell == largest);
    CHECK(std::abs(of_q.largest.front().value - most) <= 1e-4 * std::abs(most));
}

TEST_CASE("only a score has weights behind it") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto run = execute(plan_of(scenario));
    const Plan& plan = run->plan();
    CHECK_FALSE(score_of(plan, *plan.find("blocks.0.attn.z"), {0, 0, 0, 0}));
    CHECK_FALSE(score_of(plan, *plan.find("logits"), {0, 0, 0}));
    CHECK(score_of(plan, *plan.find("blocks.0.attn.masked_scores"), {0, 0, 0, 0}));
}
