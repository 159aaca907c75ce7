// The lecture hall: the stage alone, and panels that slide over it.
#include "app/core/tabs/step/shown_step.h"
#include "engine/graph/explanation.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <cmath>
#include <string>

using namespace decoderscope::testing;

namespace {

void slide(Driver& d) {
    for (int i = 0; i < 12; ++i) d.settle_one();
}

}  // namespace

TEST_CASE("F11 gives the stage the whole window, with the largest text that fits; Esc and F11 end it") {
    Driver d("reverse");
    d.state.largest_text = 1.5F;
    CHECK(d.state.text_size() == 1.0F);
    d.press(Key::f11);
    CHECK(d.state.presenting);
    CHECK(d.state.text_size() == 1.5F);
    CHECK(d.state.stage.width() == 1280);
    CHECK(d.state.stage.height() >= 796);  // what scrolls ends above the edge
    CHECK_FALSE(d.sees("Export"));
    CHECK_FALSE(d.sees("Pre-Norm"));
    CHECK(d.sees("blocks.1.cross_attn.pattern"));
    d.press(Key::escape);
    CHECK_FALSE(d.state.presenting);
    CHECK(d.sees("Export"));
    CHECK(d.state.text_size() == 1.0F);
    d.press(Key::f11);
    d.press(Key::f11);
    CHECK_FALSE(d.state.presenting);
}

TEST_CASE("a slide shows what the step reads and what it makes, its formula, and in words what it does") {
    Driver d("reverse", 1.0F, {1920, 1080});
    d.press(Key::f11);
    const DrawnHeatmap pattern = d.heatmap("blocks.1.cross_attn.pattern"),
                       scores = d.heatmap("blocks.1.cross_attn.masked_scores");
    CHECK(pattern.cells().height() > 600.0F);
    CHECK(std::abs(pattern.cells().low.y - scores.cells().low.y) < 2.0F);  // a row is at one height on both sides
    CHECK(scores.cells().high.x < pattern.cells().low.x);
    const auto without_spaces = [](std::string text) {
        std::erase(text, ' ');
        return text;
    };
    const Step& step = d.session.step();
    CHECK(d.sees(without_spaces(std::string(step.operation.about().name)) + ",head" +
                 std::to_string(d.session.cursor().place.head) + ",batchrow0"));
    CHECK(d.sees(without_spaces(core::step::sentence_of(step))));
    CHECK(d.sees(without_spaces(std::string(step.operation.about().formula))));
}

TEST_CASE("the formula of a slide has the numbers of the chosen cell, and they are its numbers") {
    Driver d("words", 1.0F, {1920, 1080});
    d.apply(core::command::GoTo{"blocks.1.attn.z"});
    Cell cell;
    for (const Axis& along : d.session.step().axes)
        cell.push_back(along.name == axis::batch    ? 0
                       : along.name == axis::head   ? 2
                       : along.name == axis::d_head ? 5
                                                    : 4);
    d.apply(core::command::SelectCell{cell});
    d.press(Key::f11);
    const Tensor& z = d.session.shown().run->value(d.session.step().id);
    const std::string number = short_number(static_cast<double>(z.at(cell)));
    CHECK(d.sees("·"));
    CHECK(d.sees("=" + number));
}

TEST_CASE("keys still step and open tabs, and each panel slides in by its key") {
    Driver d("reverse");
    d.state.settings.reduced_motion = true;
    d.press(Key::f11);
    const std::string step = d.session.cursor().step;
    d.press(Key::right);
    CHECK(d.session.cursor().step != step);
    d.press(Key::f6);
    CHECK(d.sees("Export"));
    CHECK(d.sees("Generate"));
    d.press(Key::f6);
    CHECK_FALSE(d.sees("Export"));
    d.press(Key::f4);
    const std::string of_all = "of" + std::to_string(d.session.timeline().size());
    CHECK(d.sees(of_all));
    d.press(Key::escape);  // the panel first, then the presentation
    CHECK(d.state.presenting);
    CHECK_FALSE(d.sees(of_all));
    d.press(Key::escape);
    CHECK_FALSE(d.state.presenting);
}

TEST_CASE("the pointer at an edge calls its panel, and dismisses it by leaving") {
    Driver d("reverse");
    d.state.settings.reduced_motion = true;
    d.press(Key::f11);
    d.point({640, 1});
    CHECK(d.sees("Export"));
    d.hands.push(MouseMove{640, 30});  // on it
    d.settle();
    CHECK(d.sees("Export"));
    d.point({640, 400});
    CHECK_FALSE(d.sees("Export"));
}

TEST_CASE("a panel slides in over some frames, but appears at once where motion is reduced") {
    for (const bool reduced : {false, true}) {
        Driver d("reverse");
        d.state.settings.reduced_motion = reduced;
        d.press(Key::f11);
        d.hands.tap(Key::f3);
        for (int i = 0; i < 4; ++i) d.settle_one();
        const float visible = d.state.presentation.visible[static_cast<std::size_t>(SlidePanel::inspector)];
        CHECK((visible == 1.0F) == reduced);
        CHECK(visible > 0.0F);
        slide(d);
        CHECK(d.state.presentation.visible[static_cast<std::size_t>(SlidePanel::inspector)] == 1.0F);
    }
}

TEST_CASE("in every tab of the presentation text neither overlaps nor leaves the window") {
    for (const Screen& screen : kScreens) {
        Driver d("reverse", screen.scale, screen.size);
        d.press(Key::f11);
        for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
            d.press(key);
            INFO(d.state.tab << " at scale " << screen.scale);
            check_layout(d, screen.size);
        }
    }
}
