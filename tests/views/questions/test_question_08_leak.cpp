// Question 8: does a later token influence an earlier position? One gesture on the default screen; two show a leak.
#include "app/core/text/numbers.h"
#include "app/views/tabs/masks/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cstring>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views::masks;
using namespace decoderscope::views;
using namespace decoderscope::testing;

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
    d.hands.tap(Key::m);
    d.settle();
    // By 0, not by 0.3: a line may end behind the number.
    CHECK(std::ranges::any_of(d.seen(), [](const auto& piece) {
        const std::string says = "Changedtoken3:earlierpositionsmovedbyatmost0";
        return piece.text == says || piece.text.starts_with(says + "(measuredover");
    }));
    CHECK(d.sees("Nothingleaksback."));
}

TEST_CASE("question 8: with a cell of the future un-masked it says how far the earlier positions move") {
    Driver d;
    const auto place = [&](const Cell& cell) {
        const float value = d.session.shown().run->value("blocks.0.attn.pattern").at(cell);
        const auto found = find_text(d.seen(), short_number_text(static_cast<double>(value), 4));
        REQUIRE(found);
        return found->middle();
    };
    d.hands.click(place({0, 0, 3, 3}).x, place({0, 0, 1, 0}).y, Button::right);
    d.settle();
    REQUIRE(earlier_logits_change(d.session.scenario()));
    d.hands.tap(Key::m);
    d.settle();
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
    d.session.apply(command::Undo{});
    d.settle();
    CHECK(d.sees("Nothingleaksback."));
}
