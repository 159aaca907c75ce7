// One pass of a text in the window: the line above the timeline, every tab of it, the way back, and what a pass found
// in the cache. The page of a draft, too.
#include "app/core/run/passes_of_text.h"
#include "app/views/frame/tab.h"
#include "app/views/tabs/generate/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <array>
#include <string>

using namespace decoderscope::testing;

namespace {

const std::array kSizes = {ImVec2{1280, 800}, ImVec2{1024, 700}};

const core::TextInPasses* pass_of(const Driver& d) { return core::shown_pass(d.session.scenario()); }

}  // namespace

TEST_CASE("every tab shows a pass, in the place that it has", "[long]") {
    for (const char* model : {"verses", "reverse", "experts", "induction"})
        for (const ImVec2 size : kSizes) {
            Driver d(model, 1.0F, size);
            d.press(Key::right_bracket);
            d.press(Key::right_bracket);
            REQUIRE(pass_of(d) != nullptr);
            CHECK(pass_of(d)->shown == 1);
            for (const Tab& tab : tabs()) {
                INFO(model << ", " << tab.id << ", " << size.x << " wide");
                open_tab(d, tab);
                check_layout(d, size);
                if (!tab.in_between) CHECK(d.sees("pass1,position"));  // above the strip
            }
        }
}

TEST_CASE("the line above the strip goes from pass to pass, and back to the whole text") {
    Driver d("verses");
    d.settle();
    CHECK_FALSE(d.sees("wholetext"));
    d.press(Key::left_bracket);  // before the first pass stands the whole text
    CHECK(pass_of(d) == nullptr);
    d.press(Key::right_bracket);
    REQUIRE(pass_of(d) != nullptr);
    CHECK(pass_of(d)->shown == 0);
    d.press(Key::right_bracket);
    CHECK(d.session.shown().run->value("logits").dim(1) == 1);
    d.press(Key::right_bracket);  // there is none after it
    CHECK(pass_of(d)->shown == 1);
    REQUIRE(d.click_label("wholetext"));
    CHECK(pass_of(d) == nullptr);
    CHECK(d.sees("wholetext"));  // the cut stays
    d.press(Key::z, with_ctrl);
    CHECK(pass_of(d)->shown == 1);
    // A pass isn't continued: the whole text is.
    d.press(Key::period);
    CHECK(pass_of(d)->shown == 1);
    // The cut was of this text, not of another.
    REQUIRE(d.click_label("wholetext"));
    d.apply(core::command::TypeInput{.typed = {.target = core::Typed{.text = "And God said"}}});
    CHECK_FALSE(d.sees("wholetext"));
    d.press(Key::z, with_ctrl);
    CHECK(d.sees("wholetext"));
}

TEST_CASE("Passes lists them, follows the chosen cell, and compares one with the whole text") {
    Driver d("verses");
    d.apply(core::command::ShowPass{{9, 1, 8}, 1, {"blocks.1.attn.k_kept", {}, Cell{0, 2, 4, 3}}});
    CHECK(d.session.step().name == "blocks.1.attn.k_kept");
    CHECK(d.sees("Writteninpass0,forposition4"));
    REQUIRE(d.click_label("Generate"));
    CHECK(d.sees("10to17"));
    CHECK(d.sees("Allpassesequalthewholetext"));
    CHECK(d.sees("blocks.1.attn.k_kept[0,2,"));
    REQUIRE(d.click_label("Comparethispasswiththewholetext"));
    REQUIRE(d.session.shown().pinned != nullptr);
    CHECK(d.session.shown().pinned->find("logits")->dim(1) == 1);
    CHECK(d.state.tab == core::files::kCompareTab);
}

TEST_CASE("what a pass found in the cache leads to the pass that wrote it") {
    Driver d("verses");
    d.apply(core::command::ShowPass{{9, 1, 8}, 2, {"blocks.1.attn.v_kept", {}, Cell{0, 2, 9, 3}}});
    REQUIRE(d.click_label("Writteninpass1,forposition9→"));
    CHECK(pass_of(d)->shown == 1);
    CHECK(d.session.step().name == "blocks.1.attn.v");
    CHECK(d.session.cursor().cell == Cell{0, 2, 9, 3});
}

TEST_CASE("Draft shows what was accepted, and takes the text") {
    Driver d("verses");
    d.state.tab = views::generate::kGenerateTab;
    d.settle();
    REQUIRE(d.click_label("Draft"));
    check_layout(d, kSizes.front());
    CHECK(d.sees("16tokensin"));
    const core::Value<core::generate::ShownDraft>& found =
        d.state.part<views::generate::GenerateTabState>().speculated.answer();
    REQUIRE(found);
    const std::vector<Index> tokens = found->speculated.tokens;
    REQUIRE(tokens.size() == 16);
    const Index before = d.session.scenario().inputs.pos();
    REQUIRE(d.click_label("Takethistext"));
    CHECK(d.session.scenario().inputs.pos() == before + 16);
    CHECK(d.session.scenario().generated.at(0) == tokens);
}
