// The sliding window in the Masks tab: a picture of its own between the causal mask and the padding.
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::Driver;
using decoderscope::testing::kScreens;
using decoderscope::testing::open_tab;
using decoderscope::testing::Screen;

namespace {

std::shared_ptr<const Model> mistral_like() {
    return load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/mistral-like");
}

}  // namespace

TEST_CASE("the window is shown beside the other masks where a layer has one, and nowhere else") {
    Driver d(mistral_like(), 1.0F, {1280, 1000});
    open_tab(d, Key::m, "masks");
    const auto causal = d.find_on_stage("causal"), window = d.find_on_stage("slidingwin"),
               combined = d.find_on_stage("combined");
    REQUIRE(causal);
    REQUIRE(window);
    REQUIRE(combined);
    CHECK(causal->low.x < window->low.x);
    CHECK(combined->low.y < causal->low.y);
    // The row of position 3: position 0 is too far back.
    const auto drawn = d.heatmap("blocks.0.attn.mask", "slidingwin");
    for (int key = 0; key < 6; ++key) CHECK(drawn.number(3, key) == (key == 0 ? "0" : "1"));
    d.session.apply(command::SetOption{"sliding_window", "0"});
    d.settle();
    CHECK_FALSE(d.find_on_stage("slidingwin"));
}

TEST_CASE("five masks fit beside one another") {
    for (const Screen& screen : kScreens) {
        Driver d(mistral_like(), screen.scale, screen.size);
        open_tab(d, Key::m, "masks");
        check_layout(d, screen.size);
    }
}
