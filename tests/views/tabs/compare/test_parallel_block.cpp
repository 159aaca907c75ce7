// A parallel block in the window: the map shows its two branches, and the Norms tab says that Post-Norm is impossible.
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
