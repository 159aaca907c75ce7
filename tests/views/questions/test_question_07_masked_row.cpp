// What happens to a row with everything masked? Three gestures: the Masks tab, its tool Row, the row.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <cmath>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::Driver;

TEST_CASE("question 7: a row without keys is NaN, and so is all that follows from it; the findings say where") {
    Driver d("reverse");
    d.press(Key::m);
    REQUIRE(d.click_text("Row"));
    const DrawnHeatmap mask = d.heatmap("blocks.1.cross_attn.mask", "combined");
    d.click(mask.middle(3, 2));
    CHECK(std::isnan(d.session.shown().run->value("blocks.1.cross_attn.pattern").at(Cell{0, 3, 3, 0})));
    CHECK(d.sees("Query3seesnokey:0/0=NaN"));
    CHECK(d.sees("firstNaN"));
    CHECK(d.sees("blocks.1.cross_attn.pattern[0,3,3,0]"));
    // A finite fill gives every key the same weight instead.
    REQUIRE(d.click_text("−1e9"));
    CHECK(d.sees("Query3seesnokey:eachweighs0.08333"));  // 1/12
}
