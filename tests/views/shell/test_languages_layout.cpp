// Whether the texts of every language have room.
#include "app/views/frame/tab.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views;
using namespace decoderscope::testing;

TEST_CASE("in every language, text neither overlaps nor leaves the window: each tab, each dialog, the presentation",
          "[long]") {
    std::vector<std::string> codes = translations();
    codes.insert(codes.begin(), "en");
    for (const std::string& code : codes) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const Screen& screen : kScreens) {
            for (const char* model : {"reverse", "causal-lm-as-meant"}) {
                Driver d(model, screen.scale, screen.size);
                const auto check = [&](const std::string& what) {
                    INFO(code << ", " << model << ", " << what << " at scale " << screen.scale << ", " << screen.size.x
                              << " wide");
                    check_layout(d, screen.size);
                };
                for (const Tab& tab : tabs()) {
                    open_tab(d, tab);
                    check(std::string(tab.id));
                }
                const auto check_opened = [&](Key key, Mods mods, const char* heading) {
                    d.press(key, mods);
                    INFO(code << ", " << model << ", " << heading << " at scale " << screen.scale);
                    check_dialog(d, screen.size, heading);
                };
                check_opened(Key::f1, {}, tr("Keys"));
                check_opened(Key::f1, {}, tr("Glossary"));
                d.press(Key::escape);
                check_opened(Key::comma, with_ctrl, tr("Settings"));
                d.press(Key::escape);
                check_opened(Key::e, with_ctrl, tr("Export"));
                d.press(Key::escape);
                check_opened(Key::o, with_ctrl, tr("Open a model or a session"));
                d.press(Key::escape);
                d.state.settings.introduction_closed = false;
                d.settle();
                check("the first minute");
                Driver shown(model, screen.scale, screen.size);  // its context is ImGui's from here on
                shown.press(Key::f11);
                for (const TabPage& way : ways_in()) {
                    shown.state.tab = way.id;
                    shown.settle();
                    INFO(code << ", " << model << ", the presentation of " << way.id << " at scale " << screen.scale);
                    check_layout(shown, screen.size);
                }
            }
        }
    }
}
