// The guided first minute: seven sentences, two of which wait for a click of the learner's own.
#include "app/core/session/first_minute.h"
#include "app/views/inspector/inspector.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;

namespace {

// A window at its first start.
void first_start(Driver& d) {
    d.state.settings.introduction_closed = false;
    d.settle();
}

std::size_t words_in(const std::string& text) { return 1 + static_cast<std::size_t>(std::ranges::count(text, ' ')); }

}  // namespace

TEST_CASE(
    "of every bundled model the first minute has at most seven stops, each a step of its pass and 35 words or less") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        Driver d(model.name);
        const auto stops = first_minute(d.session.shown(), d.session.step(), d.session.cursor().place);
        CHECK(stops.size() >= 5);
        CHECK(stops.size() <= 7);
        const Plan& plan = d.session.shown().run->plan();
        // First where one is, then from the text on.
        CHECK(stops.front().step == d.session.step().name);
        StepId before = 0;
        for (const MinuteStop& stop : stops) {
            INFO(stop.step);
            REQUIRE(plan.find(stop.step) != nullptr);
            if (&stop != &stops.front()) {
                CHECK(plan.find(stop.step)->id >= before);
                before = plan.find(stop.step)->id;
            }
            CHECK(words_in(stop.sentence.english()) <= 35);
        }
        const auto waits = std::ranges::count_if(
            stops, [](const MinuteStop& stop) { return !stop.then_step.empty() || !stop.then_cell.empty(); });
        CHECK(waits == 2);
    }
}

TEST_CASE("the first minute begins by itself, moves nothing before it is asked to, and ends on what works") {
    Driver d("words");
    const Cursor opened = d.session.cursor();
    first_start(d);
    CHECK(d.sees("Thefirstminute,1of7"));
    CHECK(d.session.cursor() == opened);
    REQUIRE(d.state.ringed);
    const auto [step, asked] = *d.state.ringed;
    const Tensor& pattern = d.session.shown().run->value(step);
    for (Index key = 0; key < pattern.dim(3); ++key)
        CHECK(pattern.at(Cell{asked[0], asked[1], asked[2], key}) <= pattern.at(asked));
    CHECK(asked[2] == pattern.dim(2) - 1);
    d.click(d.heatmap(step).middle(static_cast<int>(asked[2]), static_cast<int>(asked[3])));
    CHECK(d.session.cursor().cell == asked);
    CHECK(d.sees("1of7"));
    CHECK(d.sees("looksat"));
    CHECK_FALSE(d.state.ringed);
    d.press(Key::space);
    CHECK_FALSE(d.state.playing);
    CHECK(d.sees("2of7"));
    CHECK(d.session.cursor().step == "embed");
    d.press(Key::space);
    CHECK(d.sees("3of7"));
    // The scores are asked for, and clicked on the strip.
    d.click_on_strip("blocks.1.attn.attn_scores");
    CHECK(d.sees("✓"));
    d.press(Key::space);
    CHECK(d.session.cursor().step == "blocks.1.attn.masked_scores");
    for (int i = 0; i < 3; ++i) d.press(Key::space);
    CHECK(d.sees("7of7"));
    d.point({4.0F, 796.0F});  // away from the strip, whose tool tip covers the stage
    check_layout(d, {1280, 800});
    d.press(Key::space);
    CHECK_FALSE(d.sees("Thefirstminute"));
    CHECK(d.state.settings.introduction_closed);
    d.press(Key::space);  // plays again
    CHECK(d.state.playing);
}

TEST_CASE("whoever does something else has left the first minute, and loses neither the click nor the key") {
    for (const Key key : {Key::right, Key::h, Key::space}) {
        Driver d("words");
        first_start(d);
        REQUIRE(d.sees("1of7"));
        const Cursor opened = d.session.cursor();
        d.press(key);
        d.settle();
        CHECK((d.session.cursor() != opened || d.state.tab == "heads"));
        CHECK_FALSE(d.sees("Thefirstminute"));
        CHECK_FALSE(d.sees("Whatyouarelookingat"));
    }
    // In the middle, too.
    Driver d("words");
    first_start(d);
    REQUIRE(d.click_text("Showmehowitworks"));
    d.settle();
    CHECK(d.sees("2of7"));
    d.press(Key::right);
    d.settle();
    CHECK_FALSE(d.sees("Thefirstminute"));
    CHECK(d.session.cursor().step == "pos_embed");
}

TEST_CASE("Esc leaves the first minute where it is, and another model begins it anew") {
    Driver d("reverse");
    first_start(d);
    REQUIRE(d.click_text("Showmehowitworks"));
    d.settle();
    d.press(Key::space);
    const std::string step = d.session.cursor().step;
    d.press(Key::escape);
    CHECK_FALSE(d.sees("Thefirstminute"));
    CHECK(d.session.cursor().step == step);
    first_start(d);
    d.session.apply(command::OpenModel{"simple-decoder"});
    d.session.finish();
    for (int i = 0; i < 3; ++i) d.settle();
    CHECK(d.sees("Thefirstminute,1of"));
}

TEST_CASE("the first minute fits every screen, at each of its stops") {
    for (const Screen& screen : kScreens) {
        Driver d("words", screen.scale, screen.size);
        d.state.settings.introduction_closed = false;
        d.settle();
        check_layout(d, screen.size);
        inspector::begin_first_minute(d.session, d.state);
        for (int i = 0; i < 6; ++i) {
            d.settle();
            d.settle();
            check_layout(d, screen.size);
            inspector::next_stop(d.state);
        }
    }
}
