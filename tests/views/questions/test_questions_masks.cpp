// Questions about weights and masks, on the default screen or a gesture away from it.
#include "app/core/text/numbers.h"
#include "app/views/tabs/masks/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/questions/output_by_hand.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::views::masks;

namespace {

// A number as it is written in a cell, and how far off rounding may leave it.
std::pair<double, double> read(const std::string& text) {
    const std::size_t point = text.find('.');
    const int decimals = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
    return {std::stod(text), 0.5 * std::pow(10.0, -decimals) + 1e-6};
}

// Un-masks query 1's key 3, a cell in the column of one number and in the row of another, with a right click.
void unmask(Driver& d) {
    const auto place = [&](const Cell& cell) {
        const float value = d.session.shown().run->value("blocks.0.attn.pattern").at(cell);
        const auto found = find_text(d.seen(), short_number_text(static_cast<double>(value), 4));
        REQUIRE(found);
        return found->middle();
    };
    d.click({place({0, 0, 3, 3}).x, place({0, 0, 1, 0}).y}, Button::right);
}

}  // namespace

// Which tokens does this position attend to, and how much? Read off the default screen.

TEST_CASE("question 1: the default screen writes every weight of every position, without a gesture") {
    const Driver d("reverse", 1.0F, {1280, 880});
    REQUIRE(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    const Tensor& pattern = d.session.shown().run->value("blocks.1.cross_attn.pattern");
    const DrawnHeatmap drawn = d.heatmap("blocks.1.cross_attn.pattern");
    const Place place = d.session.cursor().place;
    for (int query = 0; query < 12; ++query) {
        CHECK_FALSE(drawn.row_label(query).empty());
        for (int key = 0; key < 12; ++key) {
            const std::string text = drawn.number(query, key);
            const auto weight = static_cast<double>(pattern.at(Cell{place.batch, place.head, query, key}));
            INFO("query " << query << ", key " << key << ": " << weight << " is written " << text);
            CHECK((text == "0") == (weight == 0.0));
            REQUIRE_FALSE(text.empty());
            const auto [number, off] = read(text);
            CHECK(std::abs(number - weight) <= off);
        }
    }
    for (int key = 0; key < 12; ++key) CHECK_FALSE(drawn.column_label(key).empty());
    // The cells are square, and large enough to hit.
    CHECK(std::abs(drawn.cell_size().x - drawn.cell_size().y) < 1.5F);
    CHECK(drawn.cell_size().x >= 24.0F);
}

// Which mask hides this cell? One gesture: the mouse on it.

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

// Question 5: what changes in the output if this cell is un-masked? One gesture on the default screen.

TEST_CASE("question 5: a right click on a masked cell un-masks it, and a line says what that does to the output") {
    Driver d;
    REQUIRE(d.session.cursor().step == "blocks.0.attn.pattern");
    unmask(d);
    const Edit edit = MaskEdit{"blocks.0.attn", 0, 0, 1, 3, true};
    REQUIRE(d.session.scenario().edits == std::vector<Edit>{edit});
    const OutputByHand answer = output_by_hand(d.session.scenario(), edit);
    CHECK(answer.largest > 0.0);
    INFO(answer.sentence());
    CHECK(d.sees(answer.sentence()));
}

// What happens to a row with everything masked? Three gestures: the Masks tab, its tool Row, the row.

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

// Question 8: does a later token influence an earlier position? One gesture on the default screen; two show a leak.

namespace {

// Whether another last token changes the logits of an earlier position, by two runs of the engine.
bool earlier_logits_change(Scenario scenario) {
    const auto plain = execute(plan_of(scenario));
    const Index last = scenario.inputs.pos() - 1;
    float& token = scenario.inputs.tokens.writable()[static_cast<std::size_t>(last)];
    token = token == 1.0F ? 2.0F : 1.0F;
    const auto changed = execute(plan_of(scenario));
    const Tensor &before = plain->value("logits"), &after = changed->value("logits");
    return std::memcmp(before.data(), after.data(), static_cast<std::size_t>(last * before.dim(2)) * sizeof(float)) !=
           0;
}

}  // namespace

TEST_CASE("question 8: the leak test says that no earlier position moves in a causal model") {
    Driver d;
    REQUIRE_FALSE(earlier_logits_change(d.session.scenario()));
    d.press(Key::m);
    // By 0, not by 0.3: a line may end behind the number.
    CHECK(std::ranges::any_of(d.seen(), [](const auto& piece) {
        const std::string says = "Changedtoken3:earlierpositionsmovedbyatmost0";
        return piece.text == says || piece.text.starts_with(says + "(measuredover");
    }));
    CHECK(d.sees("Nothingleaksback."));
}

TEST_CASE("question 8: with a cell of the future un-masked it says how far the earlier positions move") {
    Driver d;
    unmask(d);
    REQUIRE(earlier_logits_change(d.session.scenario()));
    d.press(Key::m);
    CHECK(d.sees("2of3earlier"));
    CHECK_FALSE(d.sees("Nothingleaksback."));
}

TEST_CASE("question 8: a leak from the middle is found wherever the test looks from") {
    Driver d("verses");
    d.session.apply(command::TypeInput{.typed = {.target = Typed{.text = "And God "}}});
    d.session.apply(command::PaintMask{"blocks.0.attn", 0, 0, 2, 6, true});
    d.press(Key::m);
    CHECK(d.state.part<MasksTabState>().leak_position == 6);  // that was painted
    CHECK(d.sees("4of6earlierpositionsmoved"));
    // From the last position no other moves, and that isn't all there is to say.
    d.state.part<MasksTabState>().chosen_position = 7;
    d.settle();
    CHECK(d.sees("Changedtoken7:earlierpositionsmovedbyatmost0"));
    CHECK(d.sees("Butposition6leaksback"));
    CHECK_FALSE(d.sees("Nothingleaksback."));
    d.apply(command::Undo{});
    CHECK(d.sees("Nothingleaksback."));
}

// Where does the padding go in cross-attention? Read off the default screen; the Masks tab says it in a sentence.

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
