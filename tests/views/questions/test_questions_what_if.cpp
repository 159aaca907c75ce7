// Questions 3, 6 and 24: what would be without the scale, with another fill, with projections of their own?
#include "app/core/text/numbers.h"
#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"
#include "tests/views/questions/learner.h"

#include <cmath>
#include <utility>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::as_seen;
using decoderscope::testing::Learner;

namespace {

std::string now_and_then(float now, float then) {
    return as_seen(short_number_text(static_cast<double>(now), 3) + " → " +
                   short_number_text(static_cast<double>(then), 3));
}

std::shared_ptr<const Run> run_with(const Learner& learner, const Variation& variation) {
    return execute(plan_of(varied(learner.d.session.shown().scenario, variation)));
}

}  // namespace

TEST_CASE("question 3: what would this score be without 1/√d_head, and the pattern?") {
    Learner learner;
    learner.click_on_strip("blocks.1.cross_attn.attn_scores");
    learner.click_cell("blocks.1.cross_attn.attn_scores", 1, 2);
    learner.click_in_inspector("without 1/√d_head");
    CHECK(learner.gestures <= 4);
    const auto then = run_with(learner, {.overrides = {{"attention_scale", "1"}}});
    const Cell cell = {0, 3, 1, 2};
    CHECK(learner.beside("this cell") == now_and_then(learner.value("blocks.1.cross_attn.attn_scores", cell),
                                                      then->value("blocks.1.cross_attn.attn_scores").at(cell)));
    // The pattern's row of this query: the key that moves furthest comes first.
    const std::string pattern = "blocks.1.cross_attn.pattern";
    Index furthest = 0;
    const auto move = [&](Index key) {
        return std::abs(then->value(pattern).at(Cell{0, 3, 1, key}) - learner.value(pattern, {0, 3, 1, key}));
    };
    for (Index key = 1; key < learner.run().value(pattern).dim(3); ++key)
        if (move(key) > move(furthest)) furthest = key;
    CHECK(learner.reads(
        now_and_then(learner.value(pattern, {0, 3, 1, furthest}), then->value(pattern).at(Cell{0, 3, 1, furthest}))));
    CHECK(learner.reads("predicts"));
    CHECK(learner.reads("the prediction would change at"));
    // It can be kept, and undone.
    learner.click_in_inspector("Keep");
    CHECK(learner.d.session.scenario().config().attention_scale == 1.0);
    CHECK(learner.value("blocks.1.cross_attn.attn_scores", cell) ==
          then->value("blocks.1.cross_attn.attn_scores").at(cell));
    CHECK_FALSE(learner.reads("predicts"));
    learner.press(Key::z, with_ctrl);
    CHECK(learner.d.session.scenario().config().attention_scale == 0.0);
    CHECK(learner.d.session.shown().companions.empty());
}

TEST_CASE("question 6: what does −1e9 do that −∞ does not?") {
    Learner learner;
    learner.click_cell("blocks.1.cross_attn.pattern", 1, 2);
    learner.click_in_inspector("fill −1e9");
    CHECK(learner.gestures <= 3);
    const float weight = learner.value("blocks.1.cross_attn.pattern", {0, 3, 1, 2});
    CHECK(learner.beside("this cell") == now_and_then(weight, weight));
    CHECK(learner.reads("Nothing changes here: every query sees a key"));
    // A row that sees nothing, by both fills: from runs of their own.
    const MaskEdit blind = {"blocks.1.cross_attn", 0, 3, 1, std::nullopt, false};
    const auto now = run_with(learner, {.more_edits = {blind}}),
               then = run_with(learner, {.overrides = {{"mask_value", "-1e9"}}, .more_edits = {blind}});
    const float nan = now->value("blocks.1.cross_attn.pattern").at(Cell{0, 3, 1, 2}),
                even = then->value("blocks.1.cross_attn.pattern").at(Cell{0, 3, 1, 2});
    REQUIRE(std::isnan(nan));
    CHECK(even == Approx(1.0F / static_cast<float>(learner.run().value("blocks.1.cross_attn.pattern").dim(3))));
    CHECK(learner.beside("every key") == now_and_then(nan, even));
    learner.click_in_inspector("Drop");
    CHECK_FALSE(learner.reads("every key"));
    CHECK(learner.d.session.scenario().edits.empty());
    CHECK(learner.d.session.shown().companions.empty());
}

TEST_CASE("question 24: what does the shared projection change?") {
    Learner learner("causal-lm");
    const std::string pattern = "blocks.0.attn.pattern";
    REQUIRE(learner.d.session.cursor().step == pattern);
    learner.click_cell(pattern, 2, 1);
    learner.click_in_inspector("with separate k and v projections");
    CHECK(learner.gestures <= 3);
    const auto then = run_with(learner, {.overrides = {{"shared_qkv", "false"}}});
    const Cell cell = {0, 0, 2, 1};
    CHECK(learner.beside("this cell") == now_and_then(learner.value(pattern, cell), then->value(pattern).at(cell)));
    for (Index key = 0; key <= 2; ++key)
        CHECK(learner.reads(
            now_and_then(learner.value(pattern, {0, 0, 2, key}), then->value(pattern).at(Cell{0, 0, 2, key}))));
}

TEST_CASE("a what-if follows the cell, and survives another tab") {
    Learner learner;
    learner.click_cell("blocks.1.cross_attn.pattern", 1, 2);
    learner.click_in_inspector("without head 3");
    CHECK(learner.reads("predicts"));
    learner.press(Key::n);  // drops all companion runs, and explains itself instead
    CHECK_FALSE(learner.reads("predicts"));
    learner.press(Key::s);
    CHECK(learner.reads("predicts"));
    learner.d.session.apply(command::GoTo{"blocks.1.mlp.pre"});
    learner.d.settle();
    CHECK_FALSE(learner.reads("predicts"));
    CHECK_FALSE(learner.d.session.shown().companions.contains("what-if"));
}

TEST_CASE("what can be tried keeps its place from cell to cell") {
    Learner learner;
    const auto place_of = [&](const char* offer) {
        const auto piece = decoderscope::testing::find_text(learner.d.seen(), as_seen(offer));
        REQUIRE(piece);
        return piece->low;
    };
    const std::string pattern = "blocks.1.cross_attn.pattern";
    learner.click_cell(pattern, 1, 2);
    REQUIRE(learner.d.click_label("Whatif"));
    const ImVec2 scale = place_of("without 1/√d_head"), fill = place_of("fill −1e4"), head = place_of("without head 3");
    learner.click_cell(pattern, 2, 10);  // padding: the query doesn't see it
    CHECK(learner.reads("if the query saw this key"));
    for (const auto& [offer, before] :
         {std::pair{"without 1/√d_head", scale}, {"fill −1e4", fill}, {"without head 3", head}}) {
        INFO(offer);
        CHECK(place_of(offer).x == before.x);
        CHECK(place_of(offer).y == before.y);
    }
}
