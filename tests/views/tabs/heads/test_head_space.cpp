// A head's page: large cells, and lines whose tokens all have their labels.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::views;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;

TEST_CASE("a head's page has cells that can be hit and read, and a label for each token of its lines") {
    Driver d("reverse");
    d.press(Key::h);
    d.press(Key::enter);
    const DrawnHeatmap pattern = d.heatmap("blocks.1.cross_attn.pattern");
    CHECK(pattern.cell_size().x >= 20.0F);
    CHECK(pattern.cell_size().y >= 13.9F);  // high enough to hit; below it stand q, k and v
    CHECK(pattern.number(3, 4).find('.') != std::string::npos);
    const auto strip = d.find_on_stage("L2norm");
    REQUIRE(strip);
    // The four pads of the queries and the four of the keys.
    const auto pads = std::ranges::count_if(d.seen(), [&](const DrawnText& piece) {
        return d.on_stage(piece) && piece.text == "<pad>" && piece.low.x > pattern.cells().high.x &&
               piece.high.y < strip->low.y;
    });
    CHECK(pads == 8);
}
