// Whether the texts of every language have room.
#include "app/views/frame/tab.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::lesson_panel;

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

TEST_CASE("in every language, lessons neither overlap nor leave the window, in the presentation, too", "[.thorough]") {
    for (const std::string& code : translations()) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const Screen& screen : kScreens) {
            for (const bool presented : {false, true}) {
                Driver d("reverse", screen.scale, screen.size);
                d.state.settings.reduced_motion = true;
                speak_lessons(d.state, code);
                if (presented) d.press(Key::f11);
                d.press(Key::f7);
                const auto check = [&](const std::string& what) {
                    INFO(code << ", " << what << " at scale " << screen.scale << ", " << screen.size.x << " wide, "
                              << (presented ? "presented" : "beside the stage"));
                    if (presented)
                        check_dialog(d, screen.size, tr("Lessons"));  // over the stage
                    else
                        check_layout(d, screen.size);
                };
                check("the list");
                // Every page where there is least room, the first one elsewhere.
                const bool all = &screen == &kAllScreens[1] && !presented;
                for (const lessons::LessonCard& card : lessons::lesson_cards(code)) {
                    if (card.kind == lessons::LessonKind::bug && card.name != "gallery/spiky") continue;
                    open_lesson(d.state, lessons::find_lesson(card.name, code));
                    d.settle();
                    CHECK_FALSE(d.sees("Hint"));
                    const auto& player = d.state.part<LessonsState>().player;
                    for (std::size_t page = 0; page < (all ? player->lesson()->pages.size() : 1); ++page) {
                        player->turn_to(page);
                        d.settle();
                        check(card.name + ", page " + std::to_string(page + 1));
                    }
                }
            }
        }
    }
}
