// The Experts tab: which token goes to which expert, and what switching one off does.
#include "app/core/tabs/experts/shown_experts.h"
#include "app/views/tabs/experts/tab.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::experts;

TEST_CASE("the tab is there where a model has experts, and says why it is not elsewhere") {
    Driver dense("induction");
    CHECK_FALSE(dense.sees("Experts"));
    dense.press(Key::e);
    CHECK(dense.sees("AllpositionsgothroughthesameMLP"));
    Driver d("experts");
    CHECK(d.sees("Experts"));
    d.press(Key::e);
    CHECK(d.state.tab == "experts");
    CHECK(d.find_on_stage("blocks.0.mlp.expert_weight"));
    CHECK(d.find_on_stage("Thetokensthateachexpertgets"));
    CHECK_FALSE(export_choices(d.session, d.state).empty());
}

TEST_CASE("a click chooses an expert and a position; it is switched off there and everywhere, and on again") {
    Driver d("experts");
    d.press(Key::e);
    const Heatmap weights = shown_routing(d.session.derived(), d.session.shown(), "blocks.0.mlp", 0)->weights;
    CHECK(weights.rows == 6);
    const DrawnHeatmap drawn(d.seen(), d.pictures(), weights.title, 6, static_cast<int>(weights.columns));
    d.click(drawn.middle(2, 5));
    const auto& tab = d.state.part<views::experts::ExpertsTabState>();
    CHECK(tab.expert == 2);
    REQUIRE(tab.position == Index{5});
    CHECK(d.session.cursor().cell == Cell{0, 5, 2});
    REQUIRE(d.click_label("Off"));
    const RouteExpert off = {"blocks.0.mlp", 2};
    CHECK(d.session.scenario().edits == std::vector<Edit>{off});
    const Value<ShownRouting> now = shown_routing(d.session.derived(), d.session.shown(), "blocks.0.mlp", 0);
    CHECK(now->loads[2].positions.empty());
    CHECK(d.sees("Againstthesamerunwithoutedits:logitsmovedbyatmost"));
    REQUIRE(d.click_label("Off"));
    CHECK(d.session.scenario().edits.empty());
    REQUIRE(d.click_text("Soloat5"));
    const RouteExpert alone = {"blocks.0.mlp", 2, 0, 5, true};
    CHECK(d.session.scenario().edits == std::vector<Edit>{alone});
    const Value<ShownRouting> here = shown_routing(d.session.derived(), d.session.shown(), "blocks.0.mlp", 0);
    CHECK(here->routing.weights[here->routing.at(5, 2)] == 1.0F);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("the Experts tab fits every screen, with few experts and with many") {
    for (const Screen& screen : kScreens) {
        for (const char* name : {"experts", "qwen-3-moe-like", "deepseek-v3-like"}) {
            INFO(name << " at scale " << screen.scale << ", " << screen.size.x << " wide");
            const std::string folder = DECODERSCOPE_TESTS_DIR "/reference/fixtures/" + std::string(name);
            Driver d(std::string(name) == "experts" ? load_model(name) : load_model(folder), screen.scale, screen.size);
            d.press(Key::e);
            check_layout(d, screen.size);
            d.state.part<views::experts::ExpertsTabState>().position = 1;
            d.settle();
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("the Experts tab has room for every language, with and without experts") {
    for (const std::string& code : translations()) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const Screen& screen : kScreens)
            for (const char* name : {"experts", "reverse"}) {
                INFO(code << ", " << name << " at scale " << screen.scale << ", " << screen.size.x << " wide");
                Driver d(name, screen.scale, screen.size);
                d.press(Key::e);
                d.state.part<views::experts::ExpertsTabState>().position = 5;
                if (d.session.scenario().config().experts > 0) d.apply(command::UseExpert{{"blocks.0.mlp", 1}});
                check_layout(d, screen.size);
            }
    }
}
