// In the inspector: where the selected cell goes next, and who wrote a number of the residual stream.
#include "app/core/tabs/step/history.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

TEST_CASE("a cell leads to what reads it, and that to what reads it next") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 2000});
    d.session.apply(command::Follow{"blocks.0.attn.pattern", {0, 1, 2, 1}});
    d.session.finish();
    d.settle();
    REQUIRE(d.click_label("Why"));
    REQUIRE(d.sees("Readby"));
    REQUIRE(d.click_text("blocks.0.attn.z[0,1,2"));
    CHECK(d.session.cursor().step == "blocks.0.attn.z");
    CHECK(d.session.cursor().cell == Cell{0, 1, 2, 0});
    REQUIRE(d.click_text("blocks.0.attn_out[0,2"));
    CHECK(d.session.cursor().step == "blocks.0.attn_out");
    d.press(Key::backspace);
    CHECK(d.session.cursor().step == "blocks.0.attn.z");
}

TEST_CASE("a number of the stream lists who wrote it, and nothing else does") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 2000});
    d.session.apply(command::Follow{"blocks.0.attn.z", {0, 1, 2, 0}});
    d.session.finish();
    d.settle();
    REQUIRE(d.click_label("Why"));
    CHECK_FALSE(d.sees("History:whowrotethisnumber?"));
    d.session.apply(command::Follow{"blocks.1.resid_post", {0, 2, 3}});
    d.session.finish();
    d.settle();
    CHECK(d.sees("History:whowrotethisnumber?"));
    CHECK(d.sees("Whateachpartwrote"));
    const step::History history = finished(step::history_of(d.session.shown().run, d.session.step().id, {0, 2, 3}));
    CHECK(d.sees("embedding"));
    const auto mlp = std::ranges::find(history.rows, step::Contributor::mlp,
                                       [](const step::HistoryRow& row) { return row.writer.kind; });
    REQUIRE(mlp != history.rows.end());
    REQUIRE(d.click_text(mlp->writer.tensor));
    CHECK(d.session.cursor().step == mlp->step);
    CHECK(d.session.cursor().cell == mlp->cell);
}

TEST_CASE("the inspector with readers and a history fits every screen") {
    for (const Screen& screen : kScreens) {
        INFO("scale " << screen.scale << ", " << screen.size.x << " wide");
        Driver d("reverse", screen.scale, screen.size);
        d.session.apply(command::Follow{"blocks.1.resid_post", {0, 3, 5}});
        d.settle();
        CHECK(d.click_label("Why"));
        d.point({2, 2});  // without a tooltip
        check_layout(d, screen.size);
    }
}
