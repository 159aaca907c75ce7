// Where does the padding go in cross-attention? Read off the default screen; the Masks tab says it in a sentence.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::views;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::Driver;

TEST_CASE("question 12: the padded keys are hatched, named, and weigh exactly 0 in every row") {
    Driver d("reverse");
    const DrawnHeatmap pattern = d.heatmap("blocks.1.cross_attn.pattern");
    CHECK(d.sees("paddingmask"));
    for (int query = 0; query < 12; ++query) {
        for (int key = 8; key < 12; ++key) CHECK(pattern.number(query, key) == "0");
        for (int key = 0; key < 8; ++key) CHECK(pattern.number(query, key) != "0");
    }
    for (int key = 8; key < 12; ++key) CHECK(pattern.column_label(key).find("pa") == 0);
    d.press(Key::m);
    CHECK(d.sees("48of144cellsmasked;theirweightis0"));  // 12 queries × 4 pads
}
