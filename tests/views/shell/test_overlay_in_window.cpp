// The numbers of a file in the window: the colours of strip and cells, the legend, what is said under the
// mouse.
#include "app/core/figure/colormap.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::Driver;
using decoderscope::testing::TemporaryFolder;
using decoderscope::testing::write_bytes;

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
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.settle();
    const Rgba slow = color_of(3.25F, {0.0F, 13.0F}, Scale::sequential, ColorMap::viridis, true),
               cell = color_of(1.5F, {0.0F, 13.0F}, Scale::sequential, ColorMap::viridis, true);
    CHECK(corners_in(slow) == 0);
    d.session.apply(command::OpenOverlay{folder.file("times.csv")});
    d.settle();
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
