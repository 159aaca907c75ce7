// What is on the stage before a step and after it glides from the one place to the other.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <cmath>
#include <string>

using namespace decoderscope;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

const std::string kScores = "blocks.0.attn.masked_scores";
const std::string kPattern = "blocks.0.attn.pattern";

Area corner_of(const Driver& d) { return d.heatmap(kScores).cell(0, 0); }

float apart(const Area& a, const Area& b) { return std::hypot(a.low.x - b.low.x, a.low.y - b.low.y); }

// At the scores, with the key for the next step pressed; so far as that the step is the pattern.
void step_on(Driver& d, bool motion) {
    d.state.settings.reduced_motion = !motion;
    d.session.apply(core::command::GoTo{kScores});
    for (int i = 0; i < 30; ++i) d.settle_one();
    d.hands.tap(Key::right);
    while (d.session.step().name != kPattern) d.settle_one();
}

}  // namespace

TEST_CASE("a picture glides from its old place to its new one when the step changes") {
    Driver still("reverse"), moving("reverse");
    step_on(still, false);
    still.settle_one();
    const Area there = corner_of(still);

    still.session.apply(core::command::GoTo{kScores});
    still.settle();
    const Area here = corner_of(still);
    REQUIRE(apart(here, there) > 50.0F);

    step_on(moving, true);
    moving.settle_one();
    CHECK(apart(corner_of(moving), here) < 1.0F);
    CHECK(moving.state.busy);
    float left = apart(here, there);
    int frames = 0;
    while (moving.state.busy && ++frames < 60) {
        moving.state.busy = false;
        moving.settle_one();
        const float now = apart(corner_of(moving), there);
        CHECK(now <= left + 2.5F);  // pictures stand on whole pixels
        left = now;
    }
    CHECK(left < 1.0F);
    CHECK(frames > 5);
    CHECK(frames <= 20);
}

TEST_CASE("where motion is reduced a picture is in its new place at once") {
    Driver d("reverse");
    step_on(d, false);
    d.settle_one();
    CHECK_FALSE(d.state.busy);
    const Area first = corner_of(d);
    d.settle();
    CHECK(apart(corner_of(d), first) < 1.0F);
}

TEST_CASE("a picture on its way is that of its step: its number is explained by a click") {
    Driver d("reverse");
    step_on(d, true);
    for (int i = 0; i < 6; ++i) d.settle_one();
    const Area on_its_way = corner_of(d);
    d.click({(on_its_way.low.x + on_its_way.high.x) * 0.5F, (on_its_way.low.y + on_its_way.high.y) * 0.5F});
    CHECK(d.session.step().name == kScores);
}
