// Which mask hides this cell? One gesture: the mouse on it.
#include "tests/catch.h"
#include "tests/views/driver.h"

using namespace decoderscope;
using namespace decoderscope::views;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::Driver;
using decoderscope::testing::find_text;

TEST_CASE("question 4: pointing at a masked cell names the masks that hide it") {
    Driver d("reverse");
    const DrawnHeatmap cross = d.heatmap("blocks.1.cross_attn.pattern");
    CHECK(cross.column_label(11).find("pa") == 0);
    d.point(cross.middle(2, 11));
    const auto name = find_text(d.seen(), "blocks.1.cross_attn.pattern[0,3,2,11]");
    REQUIRE(name);
    // The tooltip's line below the place of the cell, and the legend's above.
    int said = 0;
    for (const auto& piece : d.seen()) said += piece.text.find("paddingmask") != std::string::npos ? 1 : 0;
    CHECK(said >= 2);
    // In self-attention (key A) a later key is hidden by the causal mask, a later pad by both.
    d.press(Key::a);
    REQUIRE(d.session.cursor().step == "blocks.1.attn.pattern");
    const DrawnHeatmap self = d.heatmap("blocks.1.attn.pattern");
    d.point(self.middle(2, 5));
    CHECK(find_text(d.seen(), "blocks.1.attn.pattern[0,3,2,5]"));
    said = 0;
    for (const auto& piece : d.seen()) said += piece.text == "causalmask" ? 1 : 0;
    CHECK(said >= 2);
    d.point(self.middle(2, 11));
    said = 0;
    for (const auto& piece : d.seen()) said += piece.text.find("causal+padding") != std::string::npos ? 1 : 0;
    CHECK(said >= 2);
}
