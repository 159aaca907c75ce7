// Notes as a person writes, reads, finds and removes them.
#include "app/core/figure/colormap.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

using namespace decoderscope::testing;

TEST_CASE("J pins a note to the selected cell; it is read under the mouse and in the list, found, and removed") {
    Driver d;
    const Cell cell = {0, 0, 3, 2};
    d.apply(command::SelectCell{cell});
    d.press(Key::j);
    d.hands.type("exactly here");
    d.press(Key::enter);
    CHECK(d.session.notes() == Notes{{"blocks.0.attn.pattern", cell, "exactly here"}});
    CHECK(d.sees("exactlyhere"));
    CHECK(d.sees("Changethenote"));

    d.forget();
    d.apply(command::GoTo{"logits"});
    CHECK(d.sees("1note"));
    REQUIRE(d.click_text("blocks.0.attn.pattern[0,0,3,2]"));
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
    CHECK(d.session.cursor().cell == cell);

    d.apply(command::GoTo{"logits"});
    d.press(Key::p, with_ctrl);
    d.hands.type("exactly h");
    d.settle();
    d.press(Key::enter);
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");

    REQUIRE(d.click_text("Changethenote"));
    d.settle();
    CHECK(d.sees("Noteonblocks"));
    d.press(Key::a, with_ctrl);
    d.press(Key::backspace);
    d.press(Key::enter);
    CHECK(d.session.notes().empty());
    d.press(Key::z, with_ctrl);
    CHECK(d.session.notes().size() == 1);
}

TEST_CASE("a note that is left without Enter is given up, and typing it does nothing else") {
    Driver d;
    d.press(Key::j);
    d.hands.type("hmngc");
    d.settle();
    CHECK(d.state.tab == "step");
    d.press(Key::escape);
    CHECK(d.session.notes().empty());
    d.press(Key::h);
    CHECK(d.state.tab == "heads");
}

// The numbers of a file in the window: the colours of strip and cells, the legend, what is said under the
// mouse.

namespace {

// How many corners of the last frame have this colour, in this area.
int corners_in(Rgba color, Area area = {{0, 0}, {1e9F, 1e9F}}) {
    int corners = 0;
    const ImDrawData& drawn = *ImGui::GetDrawData();
    for (int i = 0; i < drawn.CmdListsCount; ++i)
        for (const ImDrawVert& corner : drawn.CmdLists[i]->VtxBuffer)
            if (corner.col == to_imgui(color) && area.contains(corner.pos)) ++corners;
    return corners;
}

}  // namespace

TEST_CASE("a file's numbers colour strip and cells; a legend names it, and removes it") {
    const TemporaryFolder folder;
    write_bytes(folder.file("times.csv"),
                "blocks.0.attn.pattern, 3.25, the slow one\n\"blocks.0.attn.pattern[0, 0, 3, 2]\", 1.5, this cell\n"
                "logits, 13");
    Driver d;
    d.apply(command::GoTo{"blocks.0.attn.pattern"});
    const Rgba slow = color_of(3.25F, {0.0F, 13.0F}, Scale::sequential, ColorMap::viridis, true),
               cell = color_of(1.5F, {0.0F, 13.0F}, Scale::sequential, ColorMap::viridis, true);
    CHECK(corners_in(slow) == 0);
    d.apply(command::OpenOverlay{folder.file("times.csv")});
    d.settle();
    CHECK(d.sees("times.csv"));
    CHECK(d.sees("13"));
    CHECK(corners_in(slow) >= 4);  // its picture on the strip
    const Area box = d.heatmap("blocks.0.attn.pattern").cell(3, 2);
    const Area lower_left = {{box.low.x - 1, box.low.y + box.height() / 2},
                             {box.high.x - box.width() / 2, box.high.y + 1}};
    CHECK(corners_in(cell, lower_left) == 4);  // its mark in the heatmap

    d.point(d.heatmap("blocks.0.attn.pattern").middle(3, 2));
    CHECK(d.sees("times.csv:1.5"));
    CHECK(d.sees("thiscell"));

    REQUIRE(d.click_label("×"));
    CHECK_FALSE(d.session.overlay());
    CHECK_FALSE(d.sees("times.csv"));
    CHECK(corners_in(slow) == 0);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.overlay());
    CHECK(d.sees("times.csv"));
}

TEST_CASE("the palette leads to a file of numbers, and takes the colours away") {
    const TemporaryFolder folder;
    write_bytes(folder.file("times.csv"), "logits, 13");
    Driver d;
    d.press(Key::p, with_ctrl);
    d.hands.type("Tint the strip by numbers from a file");
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::open_model);
    d.type_over(folder.file("times"));
    CHECK(d.sees("times.csv"));
    CHECK(d.sees("numbers"));
    d.type_over(folder.file("times.csv"));
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
    REQUIRE(d.session.overlay());
    d.press(Key::p, with_ctrl);
    d.hands.type("by meaning again");
    d.press(Key::enter);
    CHECK_FALSE(d.session.overlay());
}

// The list of edits in the inspector: one entry a gesture, which opens, and which a click takes back.

namespace {

// A row of the mask painted in one stroke, and a head that is off.
void edit(Driver& d) {
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    MaskStroke stroke{"blocks.0.attn", 0, 2, {}, false};
    for (Index key = 0; key <= 3; ++key) stroke.cells.emplace_back(3, key);
    d.apply(command::PaintMasks{stroke});
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
