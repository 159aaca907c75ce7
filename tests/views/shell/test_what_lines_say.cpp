// What the window says while it can't run what is typed, of dropout, of one selection, and of what it measured before.
#include "app/views/tabs/ask/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/tabs/masks/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::Driver;

namespace {

void apply(Driver& d, const Command& command) {
    d.session.apply(command);
    d.session.finish();
    d.settle();
}

void open(Driver& d, std::string_view tab) {
    d.state.tab = tab;
    for (int i = 0; i < 3; ++i) {
        d.settle();
        d.session.finish();
    }
    d.settle();
}

}  // namespace

TEST_CASE("while what is typed can't be run, no answer of the run before stands there as if it were new") {
    Driver d("reverse", 1.0F, {1600, 900});
    REQUIRE(d.sees("100%"));
    apply(d, command::TypeInput{{.target = Typed{.text = "redXceY"}}});
    CHECK(d.sees("\"X\",\"Y\"arenotinthevocabulary"));
    CHECK_FALSE(d.sees("100%"));
    // What is shown of the run before doesn't act.
    d.forget();
    const Area stage = d.stage();
    d.click({(stage.low.x + stage.high.x) * 0.5F, (stage.low.y + stage.high.y) * 0.5F});
    CHECK(d.last<command::SelectCell>() == nullptr);
    CHECK(d.last<command::Follow>() == nullptr);
    apply(d, command::TypeInput{{.target = Typed{.text = "redecXX"}}});
    CHECK(d.sees("\"X\"isnotinthevocabulary"));
    apply(d, command::TypeInput{{.target = Typed{.text = "redec"}}});
    CHECK(d.session.input_error().empty());
    CHECK(d.sees("%"));
}

TEST_CASE("dropout is a difference for Diff") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 1000});
    open(d, "diff");
    CHECK(d.sees("Nothingdiffers"));
    apply(d, command::SetDropout{3});
    open(d, "diff");
    CHECK_FALSE(d.sees("Nothingdiffers"));
    CHECK(d.sees("Aisthisrunwithdropout,Bthesamerunwithout"));
    CHECK(d.sees("tensorsdiffer"));
    apply(d, command::SetDropout{});
    open(d, "diff");
    CHECK(d.sees("Nothingdiffers"));
}

TEST_CASE("Masks and Heads are about the same attention, whatever step is selected") {
    Driver d("reverse", 1.0F, {1600, 1000});
    for (const char* step : {"blocks.1.attn.pattern", "probs", "blocks.0.cross_attn.z", "logits", "blocks.1.mlp_out"}) {
        apply(d, command::GoTo{step});
        INFO(step);
        open(d, "heads");
        const std::string in_heads = d.state.part<views::heads::HeadsTabState>().attention;
        open(d, "masks");
        CHECK(views::masks::shown_attention(d.session) == in_heads);
        CHECK(d.session.attention() == in_heads);
    }
}

TEST_CASE("what Causes measured of a run is there when the tab is opened again") {
    Driver d("induction", 1.0F, {1600, 1000});
    open(d, "causes");
    const auto& causes = d.state.part<views::ask::AskTabState>();
    REQUIRE(causes.last);
    const std::uint64_t measured = causes.last.answer().number();
    // Both compute companions beside the run.
    open(d, "masks");
    open(d, "diff");
    d.state.tab = "causes";
    d.settle();
    REQUIRE(causes.last);
    CHECK_FALSE(causes.last.stale());
    CHECK(causes.last.answer().number() == measured);
}
