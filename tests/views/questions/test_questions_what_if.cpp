// Questions 3, 6 and 24: what would be without the scale, with another fill, with projections of their own?
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/questions/cells_on_stage.h"
#include "tests/views/questions/learner.h"

#include <cmath>
#include <string>
#include <utility>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

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

// How does the residual stream grow with depth, Pre-Norm against Post-Norm? Where do they first differ on this input?

namespace {

// All that is written on the stage, one piece after another.
std::string written(const Driver& d) {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece)) all += piece.text;
    return all;
}

// The mean length of the rows [batch, pos] of a tensor [batch, pos, d_model] that are not padding.
double mean_length(const Tensor& tensor, const Tensor& mask) {
    double sum = 0.0, rows = 0.0;
    for (Index b = 0; b < tensor.dim(0); ++b)
        for (Index p = 0; p < tensor.dim(1); ++p) {
            if (!mask.empty() && mask.at(Cell{b, p}) == 0.0F) continue;
            double square = 0.0;
            for (Index i = 0; i < tensor.dim(2); ++i) {
                const auto x = static_cast<double>(tensor.at(Cell{b, p, i}));
                square += x * x;
            }
            sum += std::sqrt(square);
            ++rows;
        }
    return sum / rows;
}

// How the stream's length is written to have changed: "grows 3.1-fold", "keeps its length (1.0-fold)", "shrinks to 0.5
// of its length".
double read_growth(const std::string& text, const std::string& side) {
    const std::size_t at = text.find(side);
    REQUIRE(at != std::string::npos);
    const std::size_t number = text.find_first_of("0123456789", at);
    REQUIRE(number != std::string::npos);
    return std::stod(text.substr(number));
}

}  // namespace

TEST_CASE("question 16: N writes how far the stream grows under Pre-Norm and under Post-Norm") {
    Driver d("reverse");
    const Tensor mask = d.session.scenario().inputs.attention_mask;  // [batch, pos]
    d.press(Key::n);
    const std::string text = written(d);
    const Index blocks = d.session.scenario().config().num_layers;
    REQUIRE(d.session.shown().companion("norms.left") != nullptr);
    REQUIRE(d.session.shown().companion("norms.right") != nullptr);
    const Run& pre = *d.session.shown().companion("norms.left")->run;
    const Run& post = *d.session.shown().companion("norms.right")->run;
    REQUIRE(post.plan().find("blocks." + std::to_string(blocks - 1) + ".ln3.normalized") != nullptr);
    const std::string last = "blocks." + std::to_string(blocks - 1);
    const double entering = mean_length(pre.value("blocks.0.resid_pre"), mask);
    CHECK(std::abs(read_growth(text, "Pre-Norm:thestream") /
                       (mean_length(pre.value(last + ".resid_post"), mask) / entering) -
                   1.0) < 0.06);
    // Post-Norm normalises the last sum before it leaves the block.
    const double left = mean_length(post.value(last + ".ln3.normalized"), mask);
    CHECK(std::abs(read_growth(text, "Post-Norm:it") / (left / mean_length(post.value("blocks.0.resid_pre"), mask)) -
                   1.0) < 0.06);
}

TEST_CASE("where numbers are not finite, the sentence says so and writes no NaN %") {
    Driver d("reverse");
    d.session.apply(command::PaintMask{"blocks.0.attn", 0, std::nullopt, 0, 0, false});
    d.press(Key::n);
    const std::string text = written(d);
    CHECK(text.find("NaN%") == std::string::npos);
    CHECK(text.find("can'tbecompared") != std::string::npos);
}

TEST_CASE("question 17: two gestures lead to the first step in which Pre-Norm and Post-Norm differ") {
    Driver d("reverse");
    d.press(Key::c);
    REQUIRE(d.click_text("Normchange?"));
    d.settle();
    // By comparing all recorded numbers here.
    const Run& a = *d.session.shown().run;
    const Run& b = *d.session.shown().companion("diff")->run;
    std::string first;
    for (const Step& step : a.plan().steps()) {
        if (step.is_source() || b.plan().find(step.name) == nullptr) continue;
        const auto here = a.value(step.id).values(), there = b.value(step.name).values();
        if (here.empty() || there.empty() || std::ranges::equal(here, there)) continue;
        first = step.name;
        break;
    }
    REQUIRE_FALSE(first.empty());
    CHECK(written(d).find("Thefirsttodifferis" + first) != std::string::npos);
}

// Where did the first NaN appear?

TEST_CASE("question 23: one gesture names the first cell that is NaN and why, and a click goes there") {
    Driver d("reverse");
    // A query with nothing left to attend to.
    d.apply(command::PaintMask{"blocks.1.attn", 0, 2, 0, 0, false});
    d.press(Key::v);
    // By looking at every number in the order of computation.
    const Run& run = *d.session.shown().run;
    std::string first;
    Cell cell;
    for (const Step& step : run.plan().steps()) {
        const Tensor& tensor = run.value(step.id);
        if (step.is_source() || tensor.empty()) continue;
        const auto values = tensor.values();
        const auto nan = std::find_if(values.begin(), values.end(), [](float x) { return std::isnan(x); });
        if (nan == values.end()) continue;
        first = step.name;
        cell = tensor.cell(nan - values.begin());
        break;
    }
    REQUIRE(first == "blocks.1.attn.pattern");
    std::string place = "→" + cell_name(first, cell);
    std::erase(place, ' ');
    CHECK(d.sees(place));
    CHECK(d.sees("ThefirstisNaN"));
    std::string all;  // a sentence may break into lines
    for (const auto& piece : d.seen()) all += piece.text;
    CHECK(all.find("Themaskhideseverykeyfromthatrow.") != std::string::npos);
    REQUIRE(d.click_text(place));
    CHECK(d.session.cursor().step == first);
    CHECK(d.session.cursor().cell == cell);
}
