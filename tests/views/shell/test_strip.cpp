// The strip and the foot: every picture leads somewhere, is explained, and shows how far an edit reaches.
#include "app/core/compare/transformer_lens.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/strip/strip.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

// The captions over the pictures, from left to right, line by line.
std::vector<std::string> captions(const Driver& d) {
    std::vector<std::string> all;
    for (const DrawnText& piece : d.seen())
        if (piece.high.y < d.stage().low.y - 60.0F && piece.low.y > d.stage().low.y - 240.0F) all.push_back(piece.text);
    return all;
}

bool has_caption(const Driver& d, std::string_view caption) {
    const std::vector<std::string> all = captions(d);
    return std::ranges::find(all, caption) != all.end();
}

float place_of(const Driver& d, const std::string& step) {
    const auto at = d.find_on_strip(step);
    INFO(step);
    REQUIRE(at);
    return at->x;
}

}  // namespace

TEST_CASE("every step is a click or a few on its picture away, in every bundled architecture") {
    for (const char* model : {"causal-lm-as-meant", "reverse", "experts", "post-ln-encdec"}) {
        Driver d(model);
        const Plan& plan = d.session.shown().run->plan();
        const std::string block = d.session.step().block;
        for (const Step& step : plan.steps()) {
            if (step.is_source() || (!step.block.empty() && step.block != block)) continue;
            INFO(model << ": " << step.name);
            if (!d.find_on_strip(step.name)) d.click_on_strip(step.attention + ".pattern");
            CHECK(d.click_on_strip(step.name) <= 14);
        }
    }
}

TEST_CASE("what is on the strip stands in the order of computation, under what it is") {
    Driver d("verses");
    d.session.apply(command::GoTo{"blocks.1.attn.pattern"});
    d.live();
    d.settle();
    float before = 0.0F;
    for (const char* step :
         {"embed", "blocks.0.resid_post", "blocks.1.ln1.normalized", "blocks.1.attn.q", "blocks.1.attn.k",
          "blocks.1.attn.v", "blocks.1.attn.attn_scores", "blocks.1.attn.masked_scores", "blocks.1.attn.pattern",
          "blocks.1.attn.z", "blocks.1.attn_out", "blocks.1.resid_mid", "blocks.1.ln2.normalized", "blocks.1.mlp_out",
          "blocks.1.resid_post", "blocks.2.resid_post", "blocks.3.attn.pattern", "ln_final.normalized", "logits"}) {
        CHECK(place_of(d, step) > before);
        before = place_of(d, step);
    }
    for (const char* caption :
         {"embed", "norm", "q", "k", "v", "scores", "mask", "softmax", "z", "out", "MLP", "words"})
        CHECK(has_caption(d, caption));
}

TEST_CASE("of another block, a click leads to the same step there") {
    Driver d("verses");
    d.apply(command::GoTo{"blocks.0.attn.z"});
    d.click(*d.find_on_strip("blocks.2.attn.z"));
    CHECK(d.session.cursor().step == "blocks.2.attn.z");
}

TEST_CASE("dragging along the line goes through the steps in order, and the wheel by one") {
    Driver d("verses");
    d.settle();
    const auto sum = d.find_on_strip("blocks.0.resid_mid");
    REQUIRE(sum);
    d.hands.push(MouseMove{place_of(d, "embed"), sum->y + 6.0F});
    d.hands.push(MouseButton{Button::left, true});
    d.settle();
    std::size_t before = d.session.timeline_position();
    CHECK(before < 4);
    for (const char* step : {"blocks.0.attn.q", "blocks.0.attn.pattern", "blocks.0.mlp_out"}) {
        d.point({place_of(d, step), sum->y + 6.0F});
        CHECK(d.session.timeline_position() > before);
        before = d.session.timeline_position();
    }
    d.hands.push(MouseButton{Button::left, false});
    d.settle();
    d.hands.push(Wheel{0, -1});
    d.settle();
    CHECK(d.session.timeline_position() == before + 1);
}

TEST_CASE("a picture on the strip explains its step, or names its several") {
    Driver d;
    d.point(*d.find_on_strip("blocks.0.attn.z"));
    const Plan& plan = d.session.shown().run->plan();
    const Step& step = *plan.find("blocks.0.attn.z");
    CHECK(d.sees("TransformerLens:" + transformer_lens_name(plan, step)));
    CHECK(d.sees(without_spaces(std::string(step.operation.about().formula.substr(0, 10)))));
    const std::string teaches(step.operation.about().teaches);
    CHECK(d.sees(without_spaces(teaches.substr(0, 12))));
    CHECK(d.sees(without_spaces(shape_text(step.axes))));
    d.point(*d.find_on_strip("blocks.0.mlp_out"));
    CHECK(d.sees("blocks.0.mlp.pre"));
    CHECK(d.sees("blocks.0.mlp.post"));
}

TEST_CASE("the encoder is a line above the decoder's, which is lit as far as it is computed") {
    Driver d("reverse");
    d.press(Key::home);
    CHECK(d.find_on_strip("encoder.embed")->y < d.find_on_strip("embed")->y);
    CHECK(d.find_on_strip("encoder.blocks.0.attn.q"));
    CHECK(has_caption(d, "memory"));
    Driver alone;
    CHECK_FALSE(has_caption(alone, "memory"));
}

TEST_CASE("an edit marks the steps that it reaches, and one line says what it did to the output") {
    Driver d("causal-lm-as-meant", 1.0F, {1920, 1080});
    CHECK_FALSE(d.sees("movedbyatmost"));
    d.press(Key::digit_3, with_shift);
    CHECK(d.sees("logitsmovedbyatmost"));
    CHECK(d.sees("tensorschanged,firstblocks.0.attn.z"));
    d.press(Key::z, with_ctrl);
    CHECK_FALSE(d.sees("movedbyatmost"));
}

TEST_CASE("with the marks of an edit, strip and foot neither overlap nor leave the window") {
    for (const Screen& screen : kScreens) {
        for (const char* model : {"reverse", "verses", "simple-decoder"}) {
            Driver d(model, screen.scale, screen.size);
            d.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
            INFO(model << " at scale " << screen.scale);
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("from one block to 96, all of them are on the strip, and those beside the current one as pictures") {
    for (const int blocks : {1, 2, 12, 36, 96}) {
        INFO(blocks << " blocks");
        Driver d("induction");
        d.session.apply(command::SetOption{"num_layers", std::to_string(blocks)});
        d.session.finish();
        const std::string middle = "blocks." + std::to_string(blocks / 2);
        d.apply(command::GoTo{middle + ".attn.pattern"});
        const Plan& plan = d.session.shown().run->plan();
        const auto outline = step::outline_of(plan);
        for (const float width : {1024.0F, 1280.0F, 1920.0F}) {
            const auto lines = strip::lay_out(plan, outline, {middle, middle + ".attn"}, false, 16, width - 16, 1.0F);
            REQUIRE(lines.size() == 1);
            float end = 0.0F;
            for (const strip::Item& item : lines.front().items) {
                CHECK(item.from >= end);
                CHECK(item.to > item.from);
                end = item.to;
            }
            CHECK(end <= width);
            for (const Step& step : plan.steps())
                if (!step.is_source()) CHECK(lines.front().x_of(step.id));
        }
        check_layout(d, {1280, 800});
    }
}

TEST_CASE("F2 folds the strip to its line and back") {
    Driver d;
    const Area before = d.stage();
    d.press(Key::f2);
    CHECK(d.state.settings.strip_folded);
    CHECK(d.stage().low.y < before.low.y - 60.0F);
    check_layout(d, {1280, 800});
    d.press(Key::f2);
    CHECK(d.stage().low.y == before.low.y);
}

TEST_CASE("Play goes through the pass in twelve seconds, however deep the model is, and ends at the words") {
    for (const int blocks : {2, 24}) {
        INFO(blocks << " blocks");
        Driver d("induction");
        d.session.apply(command::SetOption{"num_layers", std::to_string(blocks)});
        d.session.finish();
        // From where the model opens it begins at the beginning, and shows the block that is unfolded there.
        d.settle();
        const std::string unfolded = d.session.step().block;
        REQUIRE(d.session.timeline_position() > 0);
        ImGui::GetIO().DeltaTime = 0.05F;
        d.hands.tap(Key::space);
        d.settle_one();
        double seconds = 0.0;
        std::vector<std::string> seen;
        while (d.state.playing && seconds < 30.0) {
            d.settle_one();
            d.settle_one();
            seconds += 0.1;
            if (seen.empty() || seen.back() != d.session.cursor().step) seen.push_back(d.session.cursor().step);
        }
        CHECK(std::abs(seconds - 12.0) < 2.0);
        CHECK(d.session.timeline_position() + 2 >= d.session.timeline().size());
        for (const char* step : {".attn.q", ".attn.attn_scores", ".attn.pattern", ".attn.z", ".attn_out"})
            CHECK(std::ranges::find(seen, unfolded + step) != seen.end());
        CHECK(d.session.shown().run->plan().find(seen.front())->block.empty());  // the embedding
        CHECK(std::ranges::find(
                  seen, (unfolded == "blocks.0" ? "blocks.1" : "blocks.0") + std::string(".resid_post")) != seen.end());
        // Again from the end, it begins at the beginning; a second press pauses it where it is.
        d.hands.tap(Key::space);
        for (int i = 0; i < 40; ++i) d.settle_one();
        CHECK(d.session.timeline_position() < d.session.timeline().size() / 2);
        // It waits behind a dialog.
        d.press(Key::e, with_ctrl);
        const std::string at = d.session.cursor().step;
        for (int i = 0; i < 60; ++i) d.settle_one();
        CHECK(d.session.cursor().step == at);
        d.press(Key::escape);
        d.press(Key::space);
        CHECK_FALSE(d.state.playing);
    }
}
