// The inspector yields to the stage, and comes back.
#include "app/views/frame/window_layout.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope::testing;

TEST_CASE("the stage gets its room first: the inspector gets narrower, then it is folded") {
    CHECK(fit_inspector(1280, 336).drawn == 336);
    CHECK(fit_inspector(853, 336).drawn >= kLeastInspector);
    CHECK(fit_inspector(853, 336).drawn < 336);
    CHECK(fit_inspector(700, 336).drawn == 0);
    CHECK(fit_inspector(1280, 0).drawn == 0);
    // However wide it was dragged.
    for (float window = 853; window < 2000; window += 7) {
        const InspectorWidth w = fit_inspector(window, 1800);
        CHECK(window - w.drawn - kSplitter >= kLeastStage - 0.5F);
        CHECK(w.most >= w.drawn);
    }
}

TEST_CASE("F3 folds the inspector, and its edge brings it back") {
    Driver d;
    const float stage = d.state.stage.width();
    d.press(Key::f3);
    CHECK(d.state.settings.inspector_folded);
    CHECK(d.state.stage.width() > stage + 300);
    check_layout(d, {1280, 800});
    // The button at the right edge, beside the tabs.
    d.click({1268, d.state.stage.low.y - 20});
    CHECK_FALSE(d.state.settings.inspector_folded);
    CHECK(d.state.stage.width() == stage);
}

TEST_CASE("a panel that lack of room made narrow has its own width again in a larger window") {
    Driver d("reverse", 1.0F, {900, 700});
    CHECK(d.state.inspector.drawn < 336);
    CHECK(d.state.settings.inspector_width == 336);
    ImGui::GetIO().DisplaySize = {1600, 900};
    d.settle();
    CHECK(d.state.inspector.drawn == 336);
}

TEST_CASE("a window smaller than the least is cut off, not squeezed: every tab and dialog outlives it") {
    for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{120, 90}, ImVec2{1, 1}}) {
        Driver d("reverse", 1.0F, size);
        for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
            d.press(key);
            CHECK(d.state.stage.width() > 300);
            CHECK(d.state.stage.height() > 200);
        }
        for (const Dialog dialog : {Dialog::keys, Dialog::palette, Dialog::export_file, Dialog::open_model,
                                    Dialog::save_session, Dialog::unsaved, Dialog::settings, Dialog::checks}) {
            d.state.dialog = dialog;
            d.state.dialog_opens = true;
            d.settle();
            d.press(Key::escape);
        }
        d.press(Key::f11);
        CHECK(d.state.presenting);
    }
}
