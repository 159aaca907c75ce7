// Map and inspector yield to the stage, and come back.
#include "app/views/frame/window_layout.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::Driver;

TEST_CASE("the stage gets its room first: panels get narrower, then one is folded, then the other") {
    const WantedPanels wanted = {.map = 224, .inspector = 336};
    const auto stage = [](float window, const PanelWidths& w) {
        return window - (w.map > 0 ? w.map + kSplitter : kRail) - (w.inspector > 0 ? w.inspector + kSplitter : kRail);
    };
    PanelWidths w = fit_panels(1280, wanted);
    CHECK((w.map == 224 && w.inspector == 336));
    w = fit_panels(1024, wanted);
    CHECK((w.map >= kLeastMap && w.map < 224 && w.inspector >= kLeastInspector && w.inspector < 336));
    CHECK(std::abs(stage(1024, w) - kLeastStage) < 0.5F);
    w = fit_panels(853, wanted);
    CHECK((w.map == 0 && w.inspector >= kLeastInspector));
    CHECK(stage(853, w) >= kLeastStage - 0.5F);
    w = fit_panels(853, {.map = 224, .inspector = 336, .map_first = true});
    CHECK((w.map >= kLeastMap && w.inspector == 0));
    w = fit_panels(700, wanted);
    CHECK((w.map == 0 && w.inspector == 0));
    w = fit_panels(1280, {.map = 224, .inspector = 336, .map_folded = true});
    CHECK((w.map == 0 && w.inspector == 336));
    // However wide the panels were dragged.
    for (float window = 853; window < 2000; window += 7) {
        w = fit_panels(window, {.map = 900, .inspector = 900});
        CHECK(stage(window, w) >= kLeastStage - 0.5F);
        CHECK(w.most_map >= w.map - 0.5F);
    }
}

TEST_CASE("F2 and F3 fold map and inspector, and their edge brings them back") {
    Driver d;
    const float stage = d.state.stage.width();
    d.hands.tap(Key::f2);
    d.settle();
    CHECK(d.state.settings.map_folded);
    CHECK(d.state.stage.width() > stage + 190);
    d.hands.tap(Key::f3);
    d.settle();
    CHECK(d.state.stage.width() > stage + 500);
    check_layout(d, {1280, 800});
    // The button at the left edge, below the toolbar and the input.
    d.hands.click(12, d.state.stage.low.y - 20);
    d.settle();
    CHECK_FALSE(d.state.settings.map_folded);
    d.hands.tap(Key::f3);
    d.settle();
    CHECK(d.state.stage.width() == stage);
}

TEST_CASE("where there is room for one panel only, the one that is asked for takes it") {
    Driver d("reverse", 1.5F, {1280, 800});
    CHECK((d.state.panels.map == 0 && d.state.panels.inspector > 0));
    d.hands.tap(Key::f2);
    d.settle();
    CHECK((d.state.panels.map > 0 && d.state.panels.inspector == 0));
    check_layout(d, {1280, 800});
    d.hands.tap(Key::f3);
    d.settle();
    CHECK((d.state.panels.map == 0 && d.state.panels.inspector > 0));
}

TEST_CASE("a panel that lack of room made narrow has its own width again in a larger window") {
    Driver d("reverse", 1.0F, {1024, 768});
    CHECK(d.state.panels.inspector < 336);
    CHECK(d.state.settings.inspector_width == 336);
    ImGui::GetIO().DisplaySize = {1600, 900};
    d.settle();
    CHECK(d.state.panels.inspector == 336);
}

TEST_CASE("a window smaller than the least is cut off, not squeezed: every tab and dialog outlives it") {
    for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{120, 90}, ImVec2{1, 1}}) {
        Driver d("reverse", 1.0F, size);
        for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
            d.hands.tap(key);
            d.settle();
            CHECK(d.state.stage.width() > 300);
            CHECK(d.state.stage.height() > 200);
        }
        for (const Dialog dialog : {Dialog::keys, Dialog::palette, Dialog::export_file, Dialog::open_model,
                                    Dialog::save_session, Dialog::unsaved, Dialog::settings, Dialog::checks}) {
            d.state.dialog = dialog;
            d.state.dialog_opens = true;
            d.settle();
            d.hands.tap(Key::escape);
            d.settle();
        }
        d.hands.tap(Key::f11);
        d.settle();
        CHECK(d.state.presenting);
    }
}
