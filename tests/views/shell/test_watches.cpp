// The numbers that stay on the screen, as a person chooses, reads and leaves them.
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope::testing;

namespace {

const std::string kLater = "blocks.1.attn.pattern";
const Cell kCell = {0, 0, 3, 2};

std::string text_at(const std::shared_ptr<const Run>& run, const std::string& step, const Cell& cell) {
    return short_number_text(static_cast<double>(run->value(step).at(cell)), 4);
}

void select(Driver& d, const std::string& step, const Cell& cell) {
    d.session.apply(command::GoTo{step});
    d.apply(command::SelectCell{cell});
}

}  // namespace

TEST_CASE("W keeps the selected number on the screen over every tab, with what it was; again: no longer") {
    Driver d;
    select(d, kLater, kCell);
    const float top = d.stage().low.y;
    d.press(Key::w);
    CHECK(d.session.notes() == Notes{{kLater, kCell, "", true}});
    CHECK(d.sees("L1pattern[0,0,3,2]"));
    CHECK(d.stage().low.y > top);
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    d.press(Key::h);
    REQUIRE(d.state.tab == "heads");
    const auto number = [&](const std::shared_ptr<const Run>& run) { return text_at(run, kLater, kCell); };
    CHECK(d.sees("L1pattern[0,0,3,2]" + number(d.session.shown().run)));
    CHECK(d.sees("was" + number(d.session.shown().unedited)));
    CHECK((d.sees("↑") || d.sees("↓")));

    d.apply(command::GoTo{"logits"});
    REQUIRE(d.click_text("L1pattern[0,0,3,2]"));
    CHECK(d.state.tab == "step");
    CHECK(d.session.step().name == kLater);
    CHECK(d.session.cursor().cell == kCell);

    d.press(Key::w);
    CHECK(d.session.notes().empty());
    CHECK_FALSE(d.sees("L1pattern[0,0,3,2]"));
    CHECK(d.stage().low.y == top);
    d.press(Key::z, with_ctrl);
    CHECK(d.sees("L1pattern[0,0,3,2]"));
}

TEST_CASE("the cross of a chip ends the watching, and leaves the text of a note") {
    Driver d;
    d.apply(command::PinNote{{kLater, kCell, "look here", true}});
    const auto chip = find_text(d.seen(), "L1pattern[0,0,3,2]");
    REQUIRE(chip);
    const DrawnText* cross = nullptr;
    for (const DrawnText& piece : d.seen())
        if (piece.text == "×" && std::abs(piece.middle().y - chip->middle().y) < 8.0F && piece.low.x > chip->high.x)
            cross = &piece;
    REQUIRE(cross != nullptr);
    d.click(cross->middle());
    CHECK(d.session.notes() == Notes{{kLater, kCell, "look here"}});
}

TEST_CASE("a step with more than one row asks for a cell, and a thirteenth number is refused; both in a sentence") {
    Driver d;
    d.apply(command::GoTo{"logits"});
    d.press(Key::w);
    CHECK(d.session.notes().empty());
    REQUIRE(d.session.message());
    CHECK(d.session.message()->text.english().find("more than one row") != std::string::npos);
    for (Index at = 0; at < 12; ++at) {
        select(d, "logits", {0, 1, at});
        d.press(Key::w);
    }
    CHECK(watched_among(d.session.notes()).size() == 12);
    select(d, "logits", {0, 2, 0});
    d.press(Key::w);
    CHECK(watched_among(d.session.notes()).size() == 12);
    CHECK(d.session.message()->text.english().find("12 numbers are watched already") != std::string::npos);
    CHECK(d.sees("watchedalready"));
    CHECK(d.sees("More"));  // not all have room
}

TEST_CASE("a row of one's own that is one number is watched where no cell is selected") {
    Driver d;
    d.apply(command::MakeEdit{AddRow{"most", "", "logits.max()"}, {"most"}});
    d.apply(command::GoTo{"most"});
    d.press(Key::w);
    CHECK(d.session.notes() == Notes{{"most", {}, "", true}});
    CHECK(d.behind("most").text.size() > 1);
}

TEST_CASE("twelve watched numbers fit into every window, with the stage below them") {
    for (const Screen& screen : kScreens) {
        INFO(screen.size.x << " × " << screen.size.y << " at " << screen.scale);
        Driver d("causal-lm-as-meant", screen.scale, screen.size);
        for (Index at = 0; at < 12; ++at)
            d.session.apply(
                command::PinNote{{"blocks." + std::to_string(at % 2) + ".attn.pattern", {0, 0, 5, at / 2}, "", true}});
        d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        for (const char* tab : {"step", "heads", "diff"}) {
            d.state.tab = tab;
            d.settle();
            check_layout(d, screen.size);
        }
        CHECK(d.stage().height() > screen.size.y * 0.3F);
    }
}
