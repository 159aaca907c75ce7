// Question 5: what changes in the output if this cell is un-masked? One gesture on the default screen.
#include "app/core/text/numbers.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/questions/output_by_hand.h"

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

TEST_CASE("question 5: a right click on a masked cell un-masks it, and a line says what that does to the output") {
    Driver d;
    REQUIRE(d.session.cursor().step == "blocks.0.attn.pattern");
    // The masked cell of query 1 and key 3: in the column of one number, in the row of another.
    const auto place = [&](const Cell& cell) {
        const float value = d.session.shown().run->value("blocks.0.attn.pattern").at(cell);
        const auto found = find_text(d.seen(), short_number_text(static_cast<double>(value), 4));
        REQUIRE(found);
        return found->middle();
    };
    const float x = place({0, 0, 3, 3}).x, y = place({0, 0, 1, 0}).y;
    d.hands.click(x, y, Button::right);
    d.settle();
    const Edit edit = MaskEdit{"blocks.0.attn", 0, 0, 1, 3, true};
    REQUIRE(d.session.scenario().edits == std::vector<Edit>{edit});
    const OutputByHand answer = output_by_hand(d.session.scenario(), edit);
    CHECK(answer.largest > 0.0);
    INFO(answer.sentence());
    CHECK(d.sees(answer.sentence()));
}
