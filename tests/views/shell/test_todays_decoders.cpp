// Experts, sinks, latent attention and RoPE by layer in the window: every step and every tab is drawn, although no view
// was written for them.
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <span>
#include <string>
#include <utility>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::Driver;

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
            d.session.apply(command::SelectCell{Cell(step.axes.size(), 0)});
            d.settle();
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
