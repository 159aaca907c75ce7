// The Masks tab's pictures are laid out by their cells, so that each cell can be painted.
#include "app/views/tabs/masks/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::masks;
using namespace decoderscope::views;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::Driver;

namespace {

constexpr const char* kMask = "blocks.1.cross_attn.mask";

// Scrolls the pictures until this one's title is at the top.
void scroll_to(Driver& d, std::string_view title) {
    const Area stage = d.stage();
    d.point({(stage.low.x + stage.high.x) * 0.5F, stage.low.y + 200.0F});
    for (int i = 0; i < 60; ++i) {
        const auto found = d.find_on_stage(title);
        if (found && found->low.y < stage.low.y + 120.0F) return;
        d.hands.push(Wheel{0, -0.5F});
        d.settle();
    }
}

}  // namespace

TEST_CASE("each of the pictures has cells of at least 16 pixels, and scrolls into sight") {
    Driver d("reverse", 1.0F, {1280, 900});
    d.press(Key::m);
    for (const char* title : {"combined", "rawscores", "maskedscores", "pattern"}) {
        scroll_to(d, title);
        INFO(title);
        const DrawnHeatmap drawn = d.heatmap(kMask, title);
        CHECK(drawn.cell_size().x >= 15.9F);
        CHECK(drawn.cell_size().y >= 15.9F);
    }
    // The findings stay.
    CHECK(d.sees("48of144cellsmasked"));
}

TEST_CASE("a click paints the very cell that it hits, up to its edges") {
    Driver d("reverse");
    d.press(Key::m);
    const Area box = d.heatmap(kMask, "combined").cell(5, 3);
    for (const ImVec2 at : {ImVec2{box.low.x + 2, box.low.y + 2}, ImVec2{box.high.x - 2, box.high.y - 2}}) {
        d.click(at);
        const Tensor& mask = d.session.shown().run->value(kMask);
        for (Index query = 0; query < 12; ++query)
            for (Index key = 0; key < 8; ++key)
                CHECK((mask.at(Cell{0, 3, query, key}) == 0.0F) == (query == 5 && key == 3));
        CHECK(d.sees("49of144cellsmasked"));
        d.press(Key::z, with_ctrl);
    }
}

TEST_CASE("the wheel scrolls the pictures, and zooms with Ctrl") {
    Driver d("reverse", 1.0F, {1280, 1080});
    d.press(Key::m);
    const DrawnHeatmap before = d.heatmap(kMask, "combined");
    const float scores = d.find_on_stage("rawscores")->low.y;
    d.point(before.middle(5, 3));
    d.hands.push(Wheel{0, -1});
    d.settle();
    CHECK(d.state.part<MasksTabState>().views["combined"].zoom == 1.0F);
    CHECK(d.find_on_stage("rawscores")->low.y < scores - 40.0F);
    d.hands.push(KeyEvent{Key::none, true, with_ctrl});
    d.hands.push(Wheel{0, 1});
    d.settle();
    float zoom = 1.0F;
    for (const auto& [title, view] : d.state.part<MasksTabState>().views) zoom = std::max(zoom, view.zoom);
    CHECK(zoom > 1.0F);
    d.hands.push(KeyEvent{Key::none, false, {}});
}

TEST_CASE("what a painted cell does is read below the pictures while the mouse is on it") {
    Driver d("reverse");
    d.press(Key::m);
    d.point(d.heatmap(kMask, "combined").middle(2, 4));
    CHECK(d.sees("query2“e”→key4“o”:"));
    CHECK(d.sees("weight"));
}
