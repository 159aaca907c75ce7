// The four places of the norms, chosen by hand: two at a time in the Norms tab, any of them for the whole window.
#include "app/views/tabs/compare/tab.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::norms;
using namespace decoderscope::core::step;
using namespace decoderscope::views::compare;

namespace {

// Chooses a place for a side, in its list.
void choose(Driver& d, std::string_view side, std::string_view place) {
    if (!d.sees(side)) REQUIRE(click_last(d, "More"));  // a narrow window has no room for both lists
    REQUIRE(choose_from(d, side, place));
}

NormPlacement placement_of(const Driver& d, const char* run) {
    const Companion* companion = d.session.shown().companion(run);
    REQUIRE(companion != nullptr);
    return companion->scenario.config().placement();
}

}  // namespace

TEST_CASE("either side has a list of the four places, and curves and sentence follow") {
    Driver d;
    open_tab(d, Key::n, "compare");
    choose(d, "A:Pre", "Peri-Norm");
    CHECK(placement_of(d, "norms.left") == NormPlacement::peri);
    CHECK(placement_of(d, "norms.right") == NormPlacement::post);
    CHECK(d.sees("x+norm(f(norm(x)))"));
    CHECK(d.sees("Peri-Norm:thestream"));
    std::string read;  // the sentence is broken into lines
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece)) read += piece.text;
    CHECK(read.find("Peri-Normhasnormsthatthismodellacks:theygetgain1andshift0.") != std::string::npos);
    const Run& peri = *d.session.shown().companion("norms.left")->run;
    CHECK(peri.value("layers.4.norm2_post.weight").data()[0] == 1.0F);
    // The diagram has both norms of a sublayer.
    const auto diagrams = shown_diagrams(d.session, *d.state.part<CompareTabState>().runs, "blocks.0");
    const auto norms = [](const std::vector<OutlinePart>& parts) {
        return std::ranges::count(parts, Part::norm, &OutlinePart::part);
    };
    CHECK(norms(diagrams->left) == 4);
    CHECK(norms(diagrams->right) == 2);
    choose(d, "B:Post", "Reordered");
    CHECK(placement_of(d, "norms.right") == NormPlacement::reordered);
    CHECK(d.sees("x+norm(f(x))"));
    CHECK_FALSE(d.session.can_undo());  // the model itself stays what it is
}

TEST_CASE("a place that is on the other side changes sides") {
    Driver d;
    open_tab(d, Key::n, "compare");
    choose(d, "A:Pre", "Post-Norm");
    CHECK(placement_of(d, "norms.left") == NormPlacement::post);
    CHECK(placement_of(d, "norms.right") == NormPlacement::pre);
}

TEST_CASE("norms behind the sublayers can be looked at row by row, where only one side has them") {
    Driver d;
    open_tab(d, Key::n, "compare");
    choose(d, "B:Post", "Peri-Norm");
    REQUIRE(d.click_text("Onerow"));
    REQUIRE(d.click_text("ln1_post"));
    CHECK(d.sees("notthere"));
}

TEST_CASE("the model's menu moves the norms of the whole window to any place, and back") {
    Driver d;
    const auto choose_place = [&](const char* place) {
        if (!d.sees("Howitcomputes")) REQUIRE(d.click_text("▾"));  // the model's menu comes first
        REQUIRE(click_last(d, place));
    };
    choose_place("Reordered");
    REQUIRE(d.last<command::SetOption>());
    CHECK(d.last<command::SetOption>()->key == "norm_placement");
    CHECK(d.session.scenario().config().placement() == NormPlacement::reordered);
    CHECK(d.session.shown().run->plan().find("blocks.0.ln1_post.normalized") != nullptr);
    CHECK(d.session.shown().run->plan().find("blocks.0.ln1.normalized") == nullptr);
    choose_place("Pre-Norm");
    CHECK(d.session.scenario().config().placement() == NormPlacement::pre);
    d.hands.tap(Key::escape);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().config().placement() == NormPlacement::reordered);
}

TEST_CASE("the other places' diagrams fit wherever the tab does") {
    for (const Screen& screen : kScreens) {
        Driver d("post-ln-encdec", screen.scale, screen.size);
        open_tab(d, Key::n, "compare");
        choose(d, "A:Pre", "Peri-Norm");
        choose(d, "B:Post", "Reordered");
        d.click({2, 2});  // without a list or a tooltip
        check_layout(d, screen.size);
    }
}

// A parallel block in the window: the map shows its two branches, and the Norms tab says that Post-Norm is impossible.

TEST_CASE(
    "a parallel block is drawn on the strip and explained, and the Norms tab says why there is no other placement") {
    for (const char* name : {"parallel-one-norm", "parallel-two-norms"}) {
        for (const Screen& screen : kScreens) {
            INFO(name << " at " << screen.size.x << " x " << screen.size.y << ", text " << screen.scale);
            Driver d(load_model(std::string(DECODERSCOPE_TESTS_DIR "/reference/fixtures/") + name), screen.scale,
                     screen.size);
            d.settle();
            d.session.apply(command::GoTo{"blocks.0.resid_post"});
            for (int i = 0; i < 3; ++i) d.settle();
            for (const char* step : {"blocks.0.attn.pattern", "blocks.0.mlp_out", "blocks.0.resid_post"})
                CHECK(d.find_on_strip(step));
            CHECK(d.sees("resid_post"));
            CHECK_FALSE(d.sees("resid_mid"));
            check_layout(d, screen.size);
            d.hands.tap(Key::n);
            for (int i = 0; i < 3; ++i) d.settle();
            REQUIRE(d.state.tab == "compare");
            CHECK(d.sees("parallel_residual"));
            check_layout(d, screen.size);
        }
    }
}
