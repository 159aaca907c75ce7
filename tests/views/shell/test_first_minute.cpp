// The guided first minute: seven sentences, two of which wait for a click of the learner's own.
#include "app/core/session/first_minute.h"
#include "app/views/inspector/inspector.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

void begin(Driver& d) {
    d.state.settings.introduction_closed = false;
    d.settle();
    REQUIRE(d.click_text("Showmehowitworks"));
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
        StepId before = 0;
        for (const MinuteStop& stop : stops) {
            INFO(stop.step);
            REQUIRE(plan.find(stop.step) != nullptr);
            CHECK(plan.find(stop.step)->id >= before);
            before = plan.find(stop.step)->id;
            CHECK(words_in(stop.sentence.english()) <= 35);
        }
        const auto waits = std::ranges::count_if(
            stops, [](const MinuteStop& stop) { return !stop.then_step.empty() || !stop.then_cell.empty(); });
        CHECK(waits == 2);
    }
}

TEST_CASE("Space goes through the first minute, the ringed cell is the largest of its row, and it ends on what works") {
    Driver d("words");
    begin(d);
    CHECK(d.sees("Thefirstminute,1of7"));
    CHECK(d.session.cursor().step == "embed");
    d.press(Key::space);
    CHECK_FALSE(d.state.playing);
    CHECK(d.sees("2of7"));
    // The scores are asked for, and clicked on the strip.
    d.click_on_strip("blocks.1.attn.attn_scores");
    CHECK(d.sees("✓"));
    d.press(Key::space);
    CHECK(d.session.cursor().step == "blocks.1.attn.masked_scores");
    d.press(Key::space);
    REQUIRE(d.state.ringed);
    const auto& [step, cell] = *d.state.ringed;
    const Tensor& pattern = d.session.shown().run->value(step);
    for (Index key = 0; key < pattern.dim(3); ++key)
        CHECK(pattern.at(Cell{cell[0], cell[1], cell[2], key}) <= pattern.at(cell));
    CHECK(cell[2] == pattern.dim(2) - 1);
    const Cell asked = cell;
    d.click(d.heatmap("blocks.1.attn.pattern").middle(static_cast<int>(asked[2]), static_cast<int>(asked[3])));
    CHECK(d.session.cursor().cell == asked);
    CHECK(d.sees("✓Softmax"));
    CHECK_FALSE(d.state.ringed);
    for (int i = 0; i < 3; ++i) d.press(Key::space);
    CHECK(d.sees("7of7"));
    check_layout(d, {1280, 800});
    d.press(Key::space);
    CHECK_FALSE(d.sees("Thefirstminute"));
    CHECK(d.sees("Whatyouarelookingat"));
    d.press(Key::space);  // plays again
    CHECK(d.state.playing);
}

TEST_CASE("Esc leaves the first minute where it is, and another model ends it") {
    Driver d("reverse");
    begin(d);
    d.press(Key::space);
    const std::string step = d.session.cursor().step;
    d.press(Key::escape);
    CHECK_FALSE(d.sees("Thefirstminute"));
    CHECK(d.session.cursor().step == step);
    begin(d);
    d.session.apply(command::OpenModel{"simple-decoder"});
    d.session.finish();
    for (int i = 0; i < 3; ++i) d.settle();
    CHECK_FALSE(d.sees("Thefirstminute,1of7"));
}

TEST_CASE("the first minute fits every screen, at each of its stops") {
    for (const Screen& screen : kScreens) {
        Driver d("words", screen.scale, screen.size);
        d.state.settings.introduction_closed = false;
        d.settle();
        inspector::begin_first_minute(d.session, d.state);
        for (int i = 0; i < 7; ++i) {
            d.settle();
            d.settle();
            check_layout(d, screen.size);
            inspector::next_stop(d.state);
        }
    }
}
