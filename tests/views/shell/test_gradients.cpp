// Gradients in the window: asked for at a cell, seen in the backward pass, switched off again.
#include "app/core/run/labels.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope::testing;

namespace {

// Goes to a cell of a step.
void go(Driver& d, const char* step, Cell cell) {
    d.session.apply(command::GoTo{step});
    d.apply(command::SelectCell{std::move(cell)});
}

}  // namespace

TEST_CASE("gradients of the selected cell are asked for by key, undone, and switched off") {
    Driver d("induction");
    go(d, "logits", {0, 5, 3});
    d.press(Key::g, with_shift);
    REQUIRE(d.last<command::SetGradients>());
    CHECK(d.last<command::SetGradients>()->of == "logits[0, 5, 3]");
    CHECK(d.session.scenario().gradient_target == "logits[0, 5, 3]");
    CHECK(d.session.shown().run->plan().find("grad.blocks.0.attn.attn_scores") != nullptr);
    CHECK(d.find_on_strip("grad.logits"));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().gradient_target.empty());
    d.press(Key::y, with_ctrl);
    CHECK(d.find_on_strip("grad.logits"));
    d.press(Key::g, with_shift);
    CHECK(d.session.scenario().gradient_target.empty());
}

TEST_CASE("the inspector has a button for a cell's gradients, its slope, and a way to switch them off") {
    Driver d("induction", 1.0F, {1280, 1800});  // all of it is on the screen, without scrolling
    go(d, "blocks.0.attn.z", {0, 0, 3, 1});
    REQUIRE(d.click_label("Why"));
    REQUIRE(d.click_label("Gradients"));
    CHECK(d.session.scenario().gradient_target == "blocks.0.attn.z[0, 0, 3, 1]");
    go(d, "embed", {0, 2, 1});
    REQUIRE(d.click_text("gradient0."));
    CHECK(d.session.step().name == "grad.embed");
    CHECK(d.session.cursor().cell == Cell{0, 2, 1});
    REQUIRE(d.click_label("Why"));  // again: the terms
    CHECK(d.sees("slopeatonepoint"));
    CHECK_FALSE(d.sees("overwrite"));
    d.press(Key::b);
    CHECK(d.session.step().name == "embed");
    CHECK(d.session.cursor().cell == Cell{0, 2, 1});
    REQUIRE(d.last<command::GoTo>());
    d.forget();
    const auto line = find_text(d.seen(), "×gradientsof");
    REQUIRE(line);
    d.click({line->low.x + 2, (line->low.y + line->high.y) / 2});
    CHECK(d.session.scenario().gradient_target.empty());
}

TEST_CASE("the strip shows one way and folds the other") {
    Driver d("reverse", 1.0F, {1280, 1400});
    d.press(Key::l, with_shift);
    CHECK(d.session.scenario().gradient_target == "loss");
    CHECK_FALSE(d.sees("Backward:gradientsofloss"));
    d.apply(command::GoTo{"grad.blocks.1.mlp_out"});
    CHECK(d.sees("Backward:gradientsofloss"));
    // From right to left, as it is computed.
    CHECK(d.find_on_strip("grad.blocks.1.mlp_out")->x > d.find_on_strip("grad.blocks.1.cross_attn.q")->x);
    CHECK(d.find_on_strip("grad.blocks.0.mlp_out")->x < d.find_on_strip("grad.blocks.1.cross_attn.q")->x);
    d.click(*d.find_on_strip("embed"));
    CHECK(d.session.step().name == d.session.shown().run->plan()[d.session.timeline().front()].name);
}

TEST_CASE("gradients of a cell that typing takes away go with it") {
    Driver d("induction");
    const Index last = d.session.scenario().inputs.pos() - 1;
    d.apply(command::SetGradients{cell_name("logits", {0, last, 3})});
    REQUIRE_FALSE(d.session.scenario().gradient_target.empty());
    d.apply(command::RemoveLastToken{0});
    CHECK(d.session.scenario().inputs.pos() == last);
    CHECK(d.session.scenario().gradient_target.empty());
    CHECK_FALSE(d.session.message());
}

TEST_CASE("the backward pass can be read at every size of the window") {
    for (const Screen& screen : kScreens) {
        Driver d("induction", screen.scale, screen.size);
        d.session.apply(command::SetGradients{"logits[0, 5, 3]"});
        go(d, "grad.blocks.0.attn.pattern", {0, 0, 4, 2});
        check_layout(d, screen.size);
    }
}
