// Ask → Vary: what is asked, and what is done with the answers.
#include "app/views/tabs/ask/tab.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

const views::ask::AskTabState& tab(const Driver& d) { return d.state.part<views::ask::AskTabState>(); }

void ask_of(Driver& d, const SweepQuestion& question) {
    views::ask::open_question(d.state, question);
    d.settle();
}

}  // namespace

TEST_CASE("Ctrl+P finds a sweep by its question, and the table says what each run changes") {
    Driver d("reverse");
    d.press(Key::p, with_ctrl);
    d.hands.type("source letter");
    d.settle();
    d.press(Key::enter);
    CHECK(d.state.tab == "ask");
    CHECK(tab(d).question.sweep.vary == "each source letter");
    REQUIRE(tab(d).last);
    const Value<ShownSweep> shown = tab(d).last.answer()->sweep;
    REQUIRE(shown->error.empty());
    CHECK(shown->form == Form::table);
    CHECK(d.find_on_stage("caneachbeleftoutwithoutchangingaprediction"));
    // The first line is the run that changes most, with the number of its predictions.
    const Result& first = shown->sweep.results[shown->order[0]];
    const std::string at = first.at[0].text.english();
    REQUIRE(d.click_text(without_spaces(at)));
    REQUIRE(tab(d).chosen == shown->order[0]);
    CHECK(d.sees("Openthisrun"));
}

TEST_CASE("a chosen run becomes the work as one change, and undo takes it back") {
    Driver d("reverse");
    ask_of(d, {"blocks.0.attn.head.1=0..2:5", "logits[0, 0, 3]"});
    REQUIRE(tab(d).last);
    CHECK(tab(d).last.answer()->sweep->form == Form::curves);
    CHECK(d.find_on_stage("logits[0,0,3]"));
    d.state.part<views::ask::AskTabState>().chosen = 3;
    d.settle();
    const auto value = static_cast<float>(number_of(tab(d).last.answer()->sweep->sweep.results[3]));
    d.forget();
    REQUIRE(d.click_text("Openthisrun"));
    REQUIRE(d.last<command::KeepVariation>() != nullptr);
    REQUIRE(d.session.scenario().edits.size() >= 1);
    CHECK(d.session.scenario().edits[0] == Edit(ScaleHead{"blocks.0.attn", 1, 1.5F}));
    CHECK(d.session.shown().run->value("logits").at(Cell{0, 0, 3}) == value);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("what is typed is computed with Enter, a mistake is a sentence, and an edit computes it anew") {
    Driver d("reverse");
    d.press(Key::o);
    REQUIRE(d.state.tab == "ask");
    REQUIRE(tab(d).question.page == AskPage::vary);
    CHECK(d.sees("Onethingisvaried"));
    ask_of(d, {"each haed", ""});
    CHECK(d.find_on_stage("“eachhaed”"));
    ask_of(d, {"each layer", ""});
    REQUIRE(tab(d).last);
    const auto before = tab(d).last.answer()->sweep->sweep.results[0].effect->largest;
    d.apply(command::ScaleHeadTo{.attention = "blocks.0.attn", .head = 0, .factor = 0.0F});
    CHECK_FALSE(tab(d).last.stale());
    CHECK(tab(d).last.answer()->sweep->sweep.results[0].effect->largest != before);
}

TEST_CASE("all forms of the tab fit their window") {
    for (const Screen& screen : kScreens) {
        Driver d("reverse", screen.scale, screen.size);
        for (const SweepQuestion& question :
             {SweepQuestion{"each head", ""}, SweepQuestion{"attention_scale=0.1..1:10", "logits[0, 0, 3]"},
              SweepQuestion{"each layer", "logits[0, 0]"},
              SweepQuestion{"norm_first=true,false", "blocks.0.attn.pattern"},
              SweepQuestion{"each head of blocks.0; norm_first=true,false", ""}}) {
            ask_of(d, question);
            INFO(question.vary << " " << question.row << " " << screen.size.x);
            REQUIRE(tab(d).last.answer()->sweep->error.empty());
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("a session keeps the question, and refuses what no question is") {
    Driver d("reverse");
    ask_of(d, {"each head", "logits[0, 0, 3]"});
    const Tab* ask_tab = find_tab("ask");
    REQUIRE(ask_tab != nullptr);
    const Json saved = ask_tab->save(d.state);
    CHECK(saved["page"] == "vary");
    CHECK(saved["vary"] == "each head");
    CHECK(saved["row"] == "logits[0, 0, 3]");
    ask_tab->restore(d.state, nullptr);
    CHECK(tab(d).question.sweep.vary.empty());
    JsonObject read(saved, "labs.ask");
    ask_tab->restore(d.state, &read);
    CHECK(tab(d).question.sweep == SweepQuestion{"each head", "logits[0, 0, 3]"});
    CHECK(tab(d).typed == tab(d).question.sweep);
}
