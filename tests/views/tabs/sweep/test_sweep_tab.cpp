// The Sweep tab: what is asked, and what is done with the answers.
#include "app/views/tabs/sweep/tab.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::sweep;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

const views::sweep::SweepTabState& tab(const Driver& d) { return d.state.part<views::sweep::SweepTabState>(); }

void ask(Driver& d, const SweepQuestion& question) {
    views::sweep::ask(d.state, question);
    d.settle();
}

}  // namespace

TEST_CASE("Ctrl+P finds a sweep by its question, and the table says what each run changes") {
    Driver d("reverse");
    d.press(Key::p, with_ctrl);
    d.hands.type("source letter");
    d.settle();
    d.press(Key::enter);
    CHECK(d.state.tab == "sweep");
    CHECK(tab(d).question.vary == "each source letter");
    REQUIRE(tab(d).answer);
    const Value<ShownSweep> shown = tab(d).answer.answer();
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
    ask(d, {"blocks.0.attn.head.1=0..2:5", "logits[0, 0, 3]"});
    REQUIRE(tab(d).answer);
    CHECK(tab(d).answer.answer()->form == Form::curves);
    CHECK(d.find_on_stage("logits[0,0,3]"));
    d.state.part<views::sweep::SweepTabState>().chosen = 3;
    d.settle();
    const auto value = static_cast<float>(number_of(tab(d).answer.answer()->sweep.results[3]));
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
    open_tab(d, Key::o, "sweep");
    CHECK(d.sees("Onethingisvaried"));
    ask(d, {"each haed", ""});
    CHECK(d.find_on_stage("“eachhaed”"));
    ask(d, {"each layer", ""});
    REQUIRE(tab(d).answer);
    const auto before = tab(d).answer.answer()->sweep.results[0].effect->largest;
    d.session.apply(command::ScaleHeadTo{.attention = "blocks.0.attn", .head = 0, .factor = 0.0F});
    d.settle();
    CHECK_FALSE(tab(d).answer.stale());
    CHECK(tab(d).answer.answer()->sweep.results[0].effect->largest != before);
}

TEST_CASE("all forms of the tab fit their window") {
    for (const Screen& screen : kScreens) {
        Driver d("reverse", screen.scale, screen.size);
        for (const SweepQuestion& question :
             {SweepQuestion{"each head", ""}, SweepQuestion{"attention_scale=0.1..1:10", "logits[0, 0, 3]"},
              SweepQuestion{"each layer", "logits[0, 0]"},
              SweepQuestion{"norm_first=true,false", "blocks.0.attn.pattern"},
              SweepQuestion{"each head of blocks.0; norm_first=true,false", ""}}) {
            ask(d, question);
            INFO(question.vary << " " << question.row << " " << screen.size.x);
            REQUIRE(tab(d).answer.answer()->error.empty());
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("a session keeps the question, and refuses what no question is") {
    Driver d("reverse");
    ask(d, {"each head", "logits[0, 0, 3]"});
    const Tab* sweep = find_tab("sweep");
    REQUIRE(sweep != nullptr);
    const Json saved = sweep->save(d.state);
    CHECK(saved == Json{{"vary", "each head"}, {"row", "logits[0, 0, 3]"}, {"seek", ""}});
    JsonObject read(saved, "tabs.sweep");
    sweep->restore(d.state, &read);
    CHECK(tab(d).question == SweepQuestion{"each head", "logits[0, 0, 3]"});
    CHECK(tab(d).typed == tab(d).question);
}
