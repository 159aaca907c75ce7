// Words that have no room above their columns lean, and are read whole.
#include "tests/catch.h"
#include "tests/views/drawn_text.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::testing;

namespace {

std::vector<DrawnText> leaning() { return turned_text(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts); }

}  // namespace

TEST_CASE("words that are too long for their columns lean over them, whole and inside the window") {
    Driver d("words");
    CHECK(leaning().empty());
    d.session.apply(command::TypeInput{
        {.target = Typed{.text = "And the children of Israel did so , as the LORD commanded Moses"}}});
    d.session.finish();
    d.settle();
    const std::vector<DrawnText> words = leaning();
    for (const char* word : {"children", "Israel", "commanded", "Moses"}) {
        INFO(word);
        CHECK(std::ranges::count(words, std::string(word), &DrawnText::text) >= 1);
    }
    for (const DrawnText& word : words) {
        INFO(word.text);
        CHECK(word.high.x < d.stage().high.x);
        CHECK(std::min(word.low.y, word.high.y) > d.stage().low.y);
    }
    const auto cells = d.heatmap("blocks.1.attn.pattern");
    CHECK(cells.cell_size().x >= 16.0F);
    CHECK(cells.number(12, 12).find('.') != std::string::npos);
    check_layout(d, {1280, 800});
}

TEST_CASE("where half of the width is enough, a token's scores are at the height of its weights, and words are whole") {
    Driver d("words");
    d.session.apply(command::TypeInput{{.target = Typed{.text = "And he said to him , I am the LORD of all"}}});
    d.session.finish();
    d.settle();
    const std::vector<DrawnText> words = leaning();
    for (const char* word : {"And", "said", "him"})
        CHECK(std::ranges::count(words, std::string(word), &DrawnText::text) == 2);
    const auto scores = d.heatmap("blocks.1.attn.masked_scores"), weights = d.heatmap("blocks.1.attn.pattern");
    for (const int row : {0, 12}) {
        CHECK(std::abs(scores.middle(row, 0).y - weights.middle(row, 0).y) < 3.0F);
        CHECK(scores.number(row, 0).size() > 1);
        CHECK(weights.number(row, 0).size() >= 1);
    }
}
