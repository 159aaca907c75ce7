// The commands that gestures give, and what is then shown.
#include "app/core/tabs/step/explanation_text.h"
#include "app/views/frame/cards.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

// The middle of a cell of the result.
ImVec2 cell_of_result(const Driver& d, const Cell& cell) {
    return d.heatmap(d.session.cursor().step).middle(static_cast<int>(cell[2]), static_cast<int>(cell[3]));
}

}  // namespace

TEST_CASE("strip and foot stay where they are in every tab, and a click on the strip leads to the step") {
    Driver d("reverse");
    const Area beside = d.stage();
    for (const Key key : {Key::f, Key::k, Key::g, Key::n}) {
        d.press(key);
        CHECK(d.stage().low.y == beside.low.y);
        CHECK(d.stage().high.y == beside.high.y);
    }
    d.press(Key::f);
    d.click(*d.find_on_strip("blocks.1.cross_attn.z"));
    CHECK(d.state.tab == "step");
    CHECK(d.session.cursor().step == "blocks.1.cross_attn.z");
}

TEST_CASE("the window opens on a pattern with its numbers, its name and what to do") {
    Driver d;
    d.settle();
    CHECK(d.sees("blocks.0.attn.pattern"));
    CHECK(d.sees("blocks.0.attn.masked_scores"));
    CHECK(d.sees("causalmask"));
    CHECK(d.sees("step9of103"));
    const auto drawn = d.heatmap("blocks.0.attn.pattern");
    for (int q = 0; q < 4; ++q)
        for (int k = 0; k <= q; ++k)
            CHECK(std::stof(drawn.number(q, k)) ==
                  Approx(d.session.shown().run->value("blocks.0.attn.pattern").at(Cell{0, 0, q, k})).margin(0.00005));
}

TEST_CASE("keys step through the pass") {
    Driver d;
    const auto tap = [&](Key key, Mods mods = {}) {
        d.press(key, mods);
        return d.session.cursor().step;
    };
    CHECK(tap(Key::right) == "blocks.0.attn.z");
    CHECK(d.sees("weightedsum"));
    CHECK(tap(Key::left) == "blocks.0.attn.pattern");
    CHECK(tap(Key::down) == "blocks.1.attn.pattern");
    CHECK(tap(Key::up) == "blocks.0.attn.pattern");
    CHECK(tap(Key::home) == "embed");
    CHECK(tap(Key::end) == "probs");
    CHECK(tap(Key::m, with_shift) == "blocks.0.attn.mask");
    CHECK(d.session.cursor().place.head == 0);
    tap(Key::digit_2);
    CHECK(d.session.cursor().place.head == 2);  // as its chip is numbered
    tap(Key::digit_0);
    CHECK(d.session.cursor().place.head == 0);
    tap(Key::digit_3, with_shift);
    REQUIRE(d.last<command::ScaleHeadTo>());
    CHECK(d.last<command::ScaleHeadTo>()->head == 3);
    CHECK(d.sees("head3off"));
    tap(Key::z, with_ctrl);
    CHECK_FALSE(d.sees("head3off"));
    tap(Key::n, with_shift);
    CHECK(d.session.scenario().config().norm_first);
}

TEST_CASE("a click on a number explains it, and a click on an operand's number follows it") {
    Driver d;
    const Cell cell = {0, 0, 1, 0};
    const ImVec2 at = cell_of_result(d, cell);
    d.click(at);
    CHECK(d.session.cursor().cell == cell);
    CHECK(d.sees("Σexp(x−max)="));
    CHECK(d.sees("weight="));
    d.click(d.heatmap("blocks.0.attn.masked_scores").middle(3, 0));
    REQUIRE(d.last<command::Follow>());
    CHECK(d.last<command::Follow>()->step == "blocks.0.attn.masked_scores");
    CHECK(d.last<command::Follow>()->cell == Cell{0, 0, 3, 0});
    CHECK(d.sees("←blocks.0.attn.pattern[0,0,1,0]"));
    REQUIRE(d.click_text("←blocks.0.attn.pattern"));
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
    CHECK(d.session.cursor().cell == cell);
}

TEST_CASE("operands in the inspector lead down to a weight") {
    Driver d;
    d.session.apply(command::GoTo{"blocks.0.attn.q"});
    d.apply(command::SelectCell{{0, 0, 0, 0}});
    // The largest term comes first: x · w.
    const Explanation explanation = d.session.shown().run->explain(d.session.step().id, {0, 0, 0, 0});
    const auto& terms = explanation.lines.back().terms;
    const auto largest = std::max_element(
        terms.begin(), terms.end(), [](const Term& a, const Term& b) { return std::abs(a.value) < std::abs(b.value); });
    const double weight = largest->factors[1].value;
    const std::string text = weight < 0 ? "(" + short_number(weight) + ")" : short_number(weight);
    REQUIRE(d.click_text(text));
    REQUIRE(d.last<command::Follow>());
    CHECK(d.session.step().name == "layers.0.self_attn.q_proj.weight");
    CHECK(static_cast<double>(d.session.shown().run->value(d.session.step().id).at(*d.session.cursor().cell)) ==
          weight);
    CHECK(d.sees("given"));
}

TEST_CASE("the right button paints the mask in one stroke, and the stage shows what changed") {
    Driver d;
    d.settle();
    const ImVec2 from = cell_of_result(d, {0, 0, 2, 0}), to = cell_of_result(d, {0, 0, 3, 0});
    d.hands.drag(from.x, from.y, to.x, to.y, Button::right);
    d.settle();
    REQUIRE(d.commands.size() >= 2);
    REQUIRE(as<command::PaintMask>(d.commands.front()));
    const auto& first = *as<command::PaintMask>(d.commands.front());
    CHECK(first.attention == "blocks.0.attn");
    CHECK(first.head == Index{0});
    CHECK(first.query == 2);
    CHECK(first.key == 0);
    CHECK_FALSE(first.keep);
    CHECK_FALSE(first.continues);
    REQUIRE(as<command::PaintMask>(d.commands.back()));
    CHECK(as<command::PaintMask>(d.commands.back())->query == 3);
    CHECK(as<command::PaintMask>(d.commands.back())->continues);
    CHECK(d.session.scenario().edits.size() == 2);
    CHECK(d.sees("maskedmanually"));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("with the brush in hand the left button paints, for all heads with Shift") {
    Driver d;
    REQUIRE(d.click_label("Try▾"));
    REQUIRE(d.click_text("Paintthemask"));
    CHECK(d.state.part<MaskBrush>().on);
    const ImVec2 at = cell_of_result(d, {0, 0, 3, 1});
    d.hands.push(MouseMove{at.x, at.y});
    d.hands.push(KeyEvent{Key::none, true, with_shift});
    d.hands.push(MouseButton{Button::left, true, with_shift});
    d.hands.push(MouseButton{Button::left, false, with_shift});
    d.settle();
    REQUIRE(d.last<command::PaintMask>());
    CHECK_FALSE(d.last<command::PaintMask>()->head);
    CHECK(d.session.shown().run->value("blocks.0.attn.mask").at(Cell{0, 7, 3, 1}) == 0.0F);
    CHECK_FALSE(d.last<command::SelectCell>());
}

TEST_CASE("a number typed over a cell becomes an edit") {
    Driver d;
    d.apply(command::SelectCell{{0, 0, 3, 3}});
    REQUIRE(d.click_label("Whatif"));
    REQUIRE(d.click_text(exact_number(d.session.shown().run->value("blocks.0.attn.pattern").at(Cell{0, 0, 3, 3}))) ==
            true);
    // The heading shows the same number; the field is the lower one.
    d.click(d.behind("overwrite").middle());
    d.hands.tap(Key::a, with_ctrl);
    d.hands.type("-2.5");
    d.press(Key::enter);
    REQUIRE(d.last<command::TypeOver>());
    CHECK(d.last<command::TypeOver>()->cell == Cell{0, 0, 3, 3});
    CHECK(d.session.shown().run->value("blocks.0.attn.pattern").at(Cell{0, 0, 3, 3}) == -2.5F);
    CHECK(d.sees("withoutedits"));
    REQUIRE(d.click_label("Whatif"));  // again: the terms
    CHECK(d.sees("setmanually"));
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
}

TEST_CASE("the toolbar flips the norm, undoes and offers the models") {
    Driver d;
    REQUIRE(d.click_text("causal-lm-as"));
    REQUIRE(d.click_label("Pre-Norm"));
    REQUIRE(d.last<command::SetOption>());
    CHECK(d.last<command::SetOption>()->key == "norm_first");
    CHECK(d.last<command::SetOption>()->value == "true");
    REQUIRE(d.click_label("Post-Norm"));
    CHECK_FALSE(d.session.scenario().config().norm_first);
    for (const BundledModel& model : bundled_models()) CHECK(d.sees(model.name));
    REQUIRE(d.click_text("pre-ln-layer"));
    CHECK(d.session.scenario().about().name == "pre-ln-layer");
}

TEST_CASE("block, head and row of the batch are chosen from the lists beside the tabs, and heads switched off there") {
    Driver d;
    const float tabs = find_text(d.seen(), "head0▾")->middle().y;
    // The text of a list, beside the tabs, or of one of its rows, below them and drawn last.
    const auto piece = [&](std::string_view text, bool in_list) {
        const auto found = std::find_if(d.seen().rbegin(), d.seen().rend(), [&](const DrawnText& one) {
            return one.text == (in_list ? std::string(text) : std::string(text) + "▾") &&
                   (in_list ? one.low.y > tabs + 12.0F : std::abs(one.middle().y - tabs) < 12.0F);
        });
        INFO(text);
        REQUIRE(found != d.seen().rend());
        return *found;
    };
    const auto choose = [&](std::string_view now, std::string_view next) {
        d.click(piece(now, false).middle());
        d.click(piece(next, true).middle());
    };
    choose("head0", "head2");
    CHECK(d.session.cursor().place.head == 2);
    d.click(piece("head2", false).middle());
    const DrawnText name = piece("head3", true);
    d.click({name.low.x - 12.0F, name.middle().y});
    REQUIRE(d.last<command::ScaleHeadTo>());
    CHECK(d.last<command::ScaleHeadTo>()->head == 3);
    CHECK(d.last<command::ScaleHeadTo>()->factor == 0.0F);
    CHECK(d.sees("head3off"));
    d.press(Key::escape);
    choose("block0", "block3");
    CHECK(d.session.cursor().step == "blocks.3.attn.pattern");
    choose("row0", "row1");
    CHECK(d.session.cursor().place.batch == 1);
}

TEST_CASE("Space plays") {
    Driver d;
    d.session.apply(command::GoFirst{});
    d.press(Key::space);
    CHECK(d.state.playing);
    for (int i = 0; i < 60; ++i) d.settle();
    CHECK(d.session.timeline_position() >= 2);
    d.press(Key::space);
    CHECK_FALSE(d.state.playing);
}

TEST_CASE("the palette finds an action by its letters and runs it") {
    Driver d;
    d.press(Key::p, with_ctrl);
    d.hands.type("flip norm");
    d.settle();
    CHECK(d.sees("FlipPre-Norm/Post-Norm"));
    CHECK_FALSE(d.sees("Exportwhatisshown"));
    d.press(Key::enter);
    CHECK(d.session.scenario().config().norm_first);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("F1 lists every key, and letters typed into a field are no shortcuts") {
    Driver d;
    d.press(Key::f1);
    CHECK(d.sees("Ctrl+Shift+Z") == false);
    CHECK(d.sees("Ctrl+E"));
    CHECK(d.sees("Samestepinthenextlayer"));
    d.press(Key::escape);
    CHECK_FALSE(d.sees("Samestepinthenextlayer"));
    d.press(Key::o, with_ctrl);
    d.hands.type("/nowhere/m");
    d.press(Key::enter);
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
    REQUIRE(d.session.message());
    CHECK(d.sees("/nowhere/m"));
}

TEST_CASE("at every step of every model, text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : testing::looked_at(bundled_models(), 4)) {
            Driver d(model.name, screen.scale, screen.size);
            d.session.apply(command::SelectCell{Cell(4, 0)});
            for (std::size_t i = 0; i < d.session.timeline().size(); ++i) {
                const Step& step = d.session.shown().run->plan()[d.session.timeline()[i]];
                // One block of each stack is enough.
                if (!step.block.empty() && !step.block.ends_with(".0")) continue;
                d.session.apply(command::GoTo{step.name});
                d.session.finish();
                d.apply(command::SelectCell{Cell(step.axes.size(), 0)});
                INFO(model.name << " " << step.name << " at scale " << screen.scale);
                check_layout(d, screen.size);
            }
        }
    }
}
