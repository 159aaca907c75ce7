// Ask, about a number: what moves a number, what another run brings back, who wrote a logit.
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/ask/tab.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;
using namespace decoderscope::views::ask;
using namespace decoderscope::views::dialogs;

TEST_CASE("Shift+W on a cell asks what moves it: slopes beside what happens") {
    Driver d("induction");
    d.session.apply(command::GoTo{"logits"});
    d.apply(command::SelectCell{{0, 5, 3}});
    d.press(Key::w, with_shift);
    REQUIRE(d.state.tab == "ask");
    const AskTabState& causes = d.state.part<AskTabState>();
    CHECK(causes.question.page == AskPage::moves);
    REQUIRE(causes.shown);
    CHECK(causes.shown->number == ChosenNumber{"logits", {0, 5, 3}, {}});
    d.settle();
    CHECK(d.sees("Heads"));
    CHECK(d.sees("8steps"));
    CHECK(d.sees("effect"));
    CHECK(d.sees("Inputtokens"));
    CHECK(d.sees("Gradientalongthestream"));
    CHECK(d.sees("Thegradienthasthewrongsign"));
    REQUIRE(causes.last);
    CHECK(causes.last.answer()->moves.complete);
    const auto& progress = causes.progress[static_cast<std::size_t>(AskPage::moves)];
    CHECK(progress->done == progress->all);
}

TEST_CASE("no number of the heads is cut, nor one with its doubt") {
    Driver d("reverse", 1.0F, {1280, 800});
    d.press(Key::k);
    d.settle();
    std::size_t doubted = 0;
    for (const DrawnText& piece : d.seen()) {
        INFO(piece.text);
        const bool number =
            piece.text.starts_with("≠") || piece.text.starts_with("0.") || piece.text.starts_with("-0.");
        if (number) CHECK(piece.text.find("…") == std::string::npos);
        doubted += piece.text.starts_with("≠") ? 1U : 0U;
    }
    CHECK(doubted > 0);
}

TEST_CASE("the stream's steps are told apart where their names don't fit") {
    Driver d("reverse", 1.0F, {1280, 800});
    d.press(Key::k);
    d.settle();
    // Encoder and decoder have a step each of a name.
    std::map<std::string, int> cut;
    for (const DrawnText& piece : d.seen())
        if ((piece.text.starts_with("0r") || piece.text.starts_with("1r")) && d.on_stage(piece)) ++cut[piece.text];
    CHECK(cut.size() >= 8);  // pre, mid, mid_cross and post of two blocks
    for (const auto& [label, times] : cut) {
        INFO(label);
        CHECK(times <= 2);
    }
}

TEST_CASE("a measurement can be cancelled, and asked for again") {
    Driver d("induction");
    d.press(Key::k);
    d.settle();
    AskTabState& causes = d.state.part<AskTabState>();
    REQUIRE(causes.shown);
    causes.stopped = causes.question;
    d.settle();
    REQUIRE(d.click_label("Measure"));
    CHECK_FALSE(causes.stopped);
    d.settle();
    CHECK(d.sees("Heads"));
}

TEST_CASE("patching with another token: what comes back with the token's own row is all of it") {
    Driver d("induction");
    d.press(Key::k);
    REQUIRE(d.click_label("Whatcomesback"));
    d.settle();
    d.settle();
    AskTabState& causes = d.state.part<AskTabState>();
    REQUIRE(causes.shown);
    REQUIRE(causes.last);
    const core::Value<Measured> shown = causes.last.answer();
    REQUIRE(shown->error.empty());
    REQUIRE_FALSE(shown->patching.steps.empty());
    const auto changed = changed_token(d.session.scenario(), 0, causes.compared);
    REQUIRE(changed);
    const PatchedStep& first = shown->patching.steps.front();
    CHECK(first.back[static_cast<std::size_t>(changed->position)] == Approx(1.0).margin(1e-4));
    CHECK(d.sees("becomes"));
    d.forget();
    REQUIRE(d.click_text("Unedited"));
    d.settle();
    CHECK(d.sees("Thisrunhasnoedits."));
}

TEST_CASE("who wrote a logit: the terms make it") {
    Driver d("induction");
    d.press(Key::k);
    REQUIRE(d.click_label("Whowroteit"));
    d.settle();
    CHECK(d.sees("blocks.0.attn.result,head0"));
    CHECK(d.sees("embedding"));
    d.forget();
    REQUIRE(d.click_text("blocks.1.attn.result,head1"));
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step == "blocks.1.attn.result");
    REQUIRE(d.last<command::ChooseHead>());
    CHECK(d.last<command::ChooseHead>()->head == 1);
}

TEST_CASE("who wrote a logit: the largest terms stand first") {
    Driver d("dates", 1.0F, {1280, 800});
    d.press(Key::k);
    REQUIRE(d.click_label("Whowroteit"));
    d.settle();
    const AskTabState& causes = d.state.part<AskTabState>();
    REQUIRE(causes.shown);
    std::vector<Contribution> terms =
        direct_attribution(*d.session.shown().run, causes.shown->batch, causes.shown->position, causes.shown->token)
            .terms;
    REQUIRE(terms.size() > 10);
    std::ranges::stable_sort(terms, std::greater<>(), [](const Contribution& term) { return std::abs(term.logit); });
    float above = 0.0F;
    for (std::size_t i = 0; i < 5; ++i) {
        const auto drawn = d.find_on_stage(without_spaces(tr(step::name_of(terms[i]))));
        INFO(i << ": " << step::name_of(terms[i]).english());
        REQUIRE(drawn);
        CHECK(drawn->low.y > above);
        above = drawn->low.y;
    }
}

TEST_CASE("what the tab asks is saved and restored") {
    Driver d("induction");
    AskTabState& causes = d.state.part<AskTabState>();
    causes.question.page = AskPage::patching;
    causes.question.number = {.kind = NumberKind::difference, .position = 4, .token = 7, .minus = 2};
    causes.question.other = {.kind = OtherKind::configuration, .option = {"norm_first", "true"}};
    causes.question.every_step = true;
    const SavedView saved = saved_view(d.state);
    causes = {};
    static_cast<void>(show_saved(d.state, saved));
    CHECK(causes.question.page == AskPage::patching);
    CHECK(causes.question.number ==
          NumberChoice{.kind = NumberKind::difference, .position = 4, .token = 7, .minus = 2});
    CHECK(causes.question.other.option.first == "norm_first");
    CHECK(causes.question.every_step);
}

TEST_CASE("the Causes tab fits the window at every size") {
    for (const Screen& screen : kScreens) {
        Driver d("induction", screen.scale, screen.size);
        d.press(Key::k);
        for (const AskPage page : {AskPage::moves, AskPage::patching, AskPage::writers}) {
            d.state.part<AskTabState>().question.page = page;
            d.settle();
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("Causes scrolls in one place at 192 dpi") {
    Driver d("dates", 2.0F, {2560, 1440});
    d.press(Key::k);
    d.settle();
    d.settle();
    // The page is as high as the stage: only its list scrolls.
    CHECK(d.stage().height() >= 2.0F * find_tab("ask")->least_height(d.session));
}
