// The list of edits in the inspector: one entry a gesture, which opens, and which a click takes back.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::Driver;

namespace {

// A row of the mask painted in one stroke, and a head that is off.
void edit(Driver& d) {
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    MaskStroke stroke{"blocks.0.attn", 0, 2, {}, false};
    for (Index key = 0; key <= 3; ++key) stroke.cells.emplace_back(3, key);
    d.session.apply(command::PaintMasks{stroke});
    d.session.finish();
    d.settle();
}

// Clicks on the × in the line of this text.
void remove(Driver& d, std::string_view text) {
    const auto line = find_text(d.seen(), text);
    REQUIRE(line);
    d.point(line->middle());
    const auto cross = std::ranges::find_if(d.seen(), [&](const testing::DrawnText& piece) {
        return piece.text.find("×") != std::string::npos && piece.low.x <= line->low.x &&
               std::abs(piece.middle().y - line->middle().y) < 6.0F;
    });
    REQUIRE(cross != d.seen().end());
    d.click(cross->middle_of("×"));
}

// Clicks on the arrow before the first group.
void click_arrow(Driver& d, std::string_view arrow) {
    const float inspector = d.stage().high.x;
    const auto found = std::ranges::find_if(d.seen(), [&](const testing::DrawnText& piece) {
        return piece.low.x > inspector && piece.low.y > d.stage().low.y - 40.0F &&
               piece.text.find(arrow) != std::string::npos;
    });
    REQUIRE(found != d.seen().end());
    d.click(found->middle_of(arrow));
    d.point({2, 2});  // without its tooltip
}

}  // namespace

TEST_CASE("a painted row is one entry, which opens to its cells and is taken back by one click") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 1000});
    edit(d);
    CHECK(d.sees("2edits"));
    CHECK(d.sees("row3masked,4cells"));
    CHECK_FALSE(d.sees("[0,2,3,1]"));
    const auto before = d.seen().size();
    click_arrow(d, "▸");
    CHECK(d.seen().size() > before);
    click_arrow(d, "▾");
    CHECK(d.seen().size() <= before);
    remove(d, "row3masked");
    CHECK(d.session.scenario().edits.size() == 1);
    CHECK_FALSE(d.sees("row3masked"));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.size() == 5);
    REQUIRE(d.click_text("clearall"));
    CHECK(d.session.scenario().edits.empty());
}
