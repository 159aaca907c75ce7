// The book of formulas in the window, by keys and by mouse.
#include "app/core/book/book_lines.h"
#include "app/views/frame/books.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/strip_check.h"

using namespace decoderscope::testing;

TEST_CASE("F1 leads from the keys to the glossary and to the formulas, and then closes") {
    Driver d;
    for (const Dialog next : {Dialog::keys, Dialog::glossary, Dialog::formulas, Dialog::none}) {
        d.press(Key::f1);
        CHECK(d.state.dialog == next);
    }
    d.press(Key::f1);
    REQUIRE(d.click_text("Formulas"));
    CHECK(d.state.dialog == Dialog::formulas);
    REQUIRE(d.click_text("Glossary"));
    CHECK(d.state.dialog == Dialog::glossary);
    REQUIRE(d.click_text("Formulas"));
    CHECK(d.state.dialog == Dialog::formulas);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("a step's key opens the book at its formula, and Enter goes to the first step that it computes") {
    Driver d("reverse");
    d.apply(command::GoTo{"blocks.1.attn.pattern"});
    d.press(Key::f, with_shift);
    REQUIRE(d.state.dialog == Dialog::formulas);
    CHECK(d.state.part<FormulaBookState>().label == "softmax");
    CHECK(d.sees("weight[…,k]=softmax_k(x[…,k])"));
    CHECK(d.sees("torch.softmax"));
    CHECK(d.sees("Kernel:engine/ops/softmax.cpp"));
    d.press(Key::down);
    CHECK(d.state.part<FormulaBookState>().label == "softmax_sink");
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::formulas);  // no step of this model is computed by it
    d.press(Key::up);
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.session.cursor().step == "encoder.blocks.0.attn.pattern");
}

TEST_CASE("the book is searched by typing, and its link goes to the step") {
    Driver d("reverse");
    open_formulas(d.state);
    d.settle();
    d.hands.type("masked_fill");
    d.settle();
    CHECK(d.sees("mask_value"));
    CHECK_FALSE(d.sees("torch.softmax"));
    REQUIRE(d.click_text("Gotoencoder.blocks.0.attn.masked_scores"));
    CHECK(d.session.cursor().step == "encoder.blocks.0.attn.masked_scores");
    CHECK(d.state.dialog == Dialog::none);
    open_formulas(d.state);
    d.settle();
    d.hands.type("nobody wrote this");
    d.settle();
    CHECK(d.sees("Nomatches"));
}

TEST_CASE("a click on the step's formula in the inspector opens the book there") {
    Driver d("reverse");
    d.apply(command::GoTo{"blocks.0.ln1.scale"});
    REQUIRE(d.click_text("variance[b,p]+eps"));
    CHECK(d.state.dialog == Dialog::formulas);
    CHECK(d.state.part<FormulaBookState>().label == "layernorm_scale");
}

TEST_CASE("the book fits at every size") {
    for (const auto& [scale, size] : kWindows)
        for (const char* label : {"relu", "rope_last", "choose_in_groups", "delta_net_out"}) {
            Driver d("reverse", scale, size);
            open_formulas(d.state, label);
            d.settle();
            INFO(label << " at " << size.x << " x " << size.y << ", text " << scale);
            const auto heading = std::ranges::find_if(
                d.seen(), [](const DrawnText& piece) { return piece.text.starts_with("Formulas"); });
            REQUIRE(heading != d.seen().end());
            bool named = false;
            for (auto piece = heading; piece != d.seen().end(); ++piece) {
                INFO(piece->text);
                CHECK(piece->high.x <= size.x);
                CHECK_FALSE(piece->text.ends_with("…"));
                named = named || (piece->text == label && piece->low.y > 0 && piece->high.y < size.y);
            }
            CHECK(named);
        }
}
