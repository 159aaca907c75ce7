// Experts, sinks, latent attention and RoPE by layer in the window: every step and every tab is drawn, although no view
// was written for them.
#include "app/core/tabs/step/history.h"
#include "app/views/frame/tab.h"
#include "engine/formulas/print.h"
#include "engine/load/model.h"
#include "engine/ops/written_formula.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

using namespace decoderscope::testing;

namespace {

constexpr const char* kFixtures[] = {
    "gemma-3-like",  "granite-like",     "nanochat-like",     "gpt-oss-like", "qwen-2-moe-like", "deepseek-v3-like",
    "latent-encdec", "experts-parallel", "no-gain-layernorm", "sinks",        "experts-encdec",  "phi-3-longrope-like"};

std::shared_ptr<const Model> fixture(const char* name) {
    return load_model(std::string(DECODERSCOPE_TESTS_DIR "/reference/fixtures/") + name);
}

}  // namespace

TEST_CASE("each step of current decoders is drawn and explains its first cell") {
    for (const char* name : testing::looked_at(std::span(kFixtures), 4)) {
        INFO(name);
        Driver d(fixture(name));
        d.settle();
        const auto run = d.session.shown().run;
        for (const Step& step : run->plan().steps()) {
            if (step.role != Role::recorded) continue;
            INFO(step.name);
            d.session.apply(command::GoTo{step.name});
            d.apply(command::SelectCell{Cell(step.axes.size(), 0)});
            check_layout(d, {1280, 800});
        }
    }
}

TEST_CASE("each tab opens on today's decoders") {
    for (const char* name : testing::looked_at(std::span(kFixtures), 4)) {
        INFO(name);
        Driver d(fixture(name));
        d.settle();
        for (const auto& [key, tab] : {std::pair{Key::h, "heads"},
                                       {Key::m, "masks"},
                                       {Key::n, "compare"},
                                       {Key::g, "generate"},
                                       {Key::c, "compare"},
                                       {Key::k, "ask"},
                                       {Key::f, "train"},
                                       {Key::s, "step"}}) {
            d.press(key);
            CHECK(d.state.tab == tab);
            check_layout(d, {1280, 800});
        }
    }
}

// A step whose formula a person wrote keeps its name and shape, and loses what the program knew of its operation: which
// operand is the scores, which the weight. Every tab, and what is asked of a cell there, outlives it.

namespace {

// "blocks.0.attn.z" of the first block stands for all that are called z there.
std::string kind_of(const std::string& name) {
    std::string kind;
    for (const char c : name)
        if (c < '0' || c > '9') kind += c;
    return kind;
}

}  // namespace

TEST_CASE("every tab outlives another formula of any step", "[long]") {
    for (const char* model : {"causal-lm-as-meant", "experts", "post-ln-encdec", "reverse"}) {
        const Driver first(model);
        std::set<std::string> kinds;
        for (const Step& step : first.session.shown().run->plan().steps()) {
            if (step.is_source() || !kinds.insert(kind_of(step.name)).second) continue;
            const auto by = ops::formula_of(step.operation);
            if (!by || step.role == Role::on_demand) continue;
            Driver d(model);
            d.apply(command::MakeEdit{RewriteStep{step.name, formulas::text_of(by->written())}, {step.name}});
            REQUIRE(d.session.scenario().edits.size() == 1);
            INFO(model << ": " << step.name);
            d.session.apply(command::GoTo{step.name});
            d.session.apply(command::SelectCell{Cell(step.axes.size(), 0)});
            for (const views::Tab& tab : views::tabs()) {
                INFO(tab.id);
                d.state.tab = tab.id;
                d.settle();
                CHECK_FALSE(d.sees("can'tbedrawn"));
            }
        }
    }
}

// In the inspector: where the selected cell goes next, and who wrote a number of the residual stream.

TEST_CASE("a cell leads to what reads it, and that to what reads it next") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 2000});
    d.apply(command::Follow{"blocks.0.attn.pattern", {0, 1, 2, 1}});
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
    d.apply(command::Follow{"blocks.0.attn.z", {0, 1, 2, 0}});
    REQUIRE(d.click_label("Why"));
    CHECK_FALSE(d.sees("History:whowrotethisnumber?"));
    d.apply(command::Follow{"blocks.1.resid_post", {0, 2, 3}});
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
        d.apply(command::Follow{"blocks.1.resid_post", {0, 3, 5}});
        CHECK(d.click_label("Why"));
        d.point({2, 2});  // without a tooltip
        check_layout(d, screen.size);
    }
}
