// A model with a soft cap in the window: the tabs draw steps that no view was written for.
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::Driver;
using decoderscope::testing::kScreens;
using decoderscope::testing::Screen;

TEST_CASE("a capped model is drawn, its map lists the capped scores, and its leak test is clean") {
    for (const Screen& screen : kScreens) {
        Driver d(load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/soft-caps"), screen.scale, screen.size);
        d.settle();
        d.session.apply(command::GoTo{"blocks.0.attn.capped_scores"});
        for (int i = 0; i < 3; ++i) d.settle();
        CHECK(d.sees("attn.capped_scores"));
        CHECK(d.sees("softcap"));
        check_layout(d, screen.size);
        d.hands.tap(Key::m);
        for (int i = 0; i < 3; ++i) d.settle();
        REQUIRE(d.state.tab == "masks");
        check_layout(d, screen.size);
        const Area stage = d.stage();
        d.point({stage.low.x + 19.0F * screen.scale, (stage.low.y + stage.high.y) * 0.5F});
        for (const char* title : {"rawscores", "maskedscores"}) {
            for (int i = 0; i < 60 && !d.sees(title); ++i) {
                d.hands.push(Wheel{0, -0.5F});
                d.settle();
            }
            CHECK(d.sees(title));
        }
        check_layout(d, screen.size);
    }
}
