// The window in every language that comes with it. Needs a font of the language; without one, says so.
#include "app/core/export/export.h"
#include "app/core/language/languages.h"
#include "app/views/dialogs/export_choices.h"
#include "app/views/lessons/lesson_state.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/lab.h"
#include "engine/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

const char* no_variables(const char*) { return nullptr; }

// A language that is spoken while this lives.
struct Speaking {
    WindowLanguage window{languages(), no_variables};

    explicit Speaking(const std::string& code) { change(code); }
    void change(const std::string& code) { REQUIRE(window.follow(code).english() == ""); }
    // Whether this machine has a font for it.
    [[nodiscard]] static bool can_be_drawn() {
        if (Driver().fonts().lacking.empty()) return true;
        WARN("no font for this language is installed: not tested");
        return false;
    }
};

std::vector<std::string> translations() {
    std::vector<std::string> codes;
    for (const Language& language : languages())
        if (!language.file.empty()) codes.push_back(language.code);
    return codes;
}

std::multiset<std::string> texts_of(const Driver& d) {
    std::multiset<std::string> texts;
    for (const DrawnText& piece : d.seen()) texts.insert(piece.text);
    return texts;
}

// The window with a tab open and a cell explained.
void open_tab(Driver& d, const Lab& lab) {
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.session.apply(command::SelectCell{Cell(4, 0)});
    d.press(lab.key);
    d.point({1, 1});
}

}  // namespace

TEST_CASE("Chinese comes with the program, by its own name") {
    const std::vector<Language> known = languages();
    const auto chinese = std::ranges::find(known, "zh_CN", &Language::code);
    REQUIRE(chinese != known.end());
    CHECK(chinese->name == "简体中文");
    CHECK(known.front().code == kEnglish);
}

TEST_CASE("in every language, text neither overlaps nor leaves the window: each tab, each dialog, the presentation") {
    for (const std::string& code : translations()) {
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
                for (const Lab& lab : labs()) {
                    open_tab(d, lab);
                    check(std::string(lab.id));
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
                for (const Lab& lab : labs()) {
                    shown.press(lab.key);
                    INFO(code << ", " << model << ", the presentation of " << lab.id << " at scale " << screen.scale);
                    check_layout(shown, screen.size);
                }
            }
        }
    }
}

TEST_CASE("in every language, lessons neither overlap nor leave the window, in the presentation, too") {
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
                const bool all = &screen == kScreens.begin() + 1 && !presented;
                for (const lessons::LessonCard& card : lessons::lesson_cards(code)) {
                    if (card.kind == lessons::LessonKind::bug && card.name != "gallery/spiky") continue;
                    open_lesson(d.state, lessons::find_lesson(card.name, code));
                    d.settle();
                    CHECK_FALSE(d.sees("Hint"));
                    const auto& player = d.state.lab<LessonsState>().player;
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

TEST_CASE("a language that is chosen while the window is open shows what one shows that was chosen before") {
    for (const std::string& code : translations()) {
        Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const Lab& lab : labs()) {
            INFO(code << ", " << lab.id);
            speaking.change(code);
            std::multiset<std::string> chosen_before;
            {
                Driver fresh("reverse");
                open_tab(fresh, lab);
                chosen_before = texts_of(fresh);
            }
            speaking.change(std::string(kEnglish));
            Driver changed("reverse");
            open_tab(changed, lab);
            const std::multiset<std::string> english = texts_of(changed);
            speaking.change(code);
            changed.settle();
            CHECK(texts_of(changed) == chosen_before);
            CHECK(chosen_before != english);
            speaking.change(std::string(kEnglish));
            changed.settle();
            CHECK(texts_of(changed) == english);
        }
    }
}

TEST_CASE("the settings offer each language by its own name, and that of the system") {
    Driver d;
    d.press(Key::comma, with_ctrl);
    CHECK_FALSE(d.sees("Language"));  // nothing to choose from
    d.state.languages = {{"en", "English", ""}, {"de", "Deutsch", "de.po"}};
    d.settle();
    CHECK(d.sees("Language"));
    CHECK(d.click_label("Deutsch"));
    CHECK(d.state.settings.language == "de");
    CHECK(d.click_label("English"));
    CHECK(d.state.settings.language == "en");
    CHECK(d.click_label("Asthesystem"));
    CHECK(d.state.settings.language.empty());
    // A name that cannot be drawn is replaced by the code.
    d.state.languages.push_back({"xx", "\U000F1234", "xx.po"});
    d.settle();
    d.settle();
    CHECK(d.click_label("xx"));
    CHECK(d.state.settings.language == "xx");
    d.press(Key::escape);
    d.press(Key::p, with_ctrl);
    d.hands.type("language: deutsch");
    d.hands.tap(Key::enter);
    d.settle();
    CHECK(d.state.settings.language == "de");
}

TEST_CASE("actions are found by their name in the window's language and in English") {
    const Speaking speaking("zh_CN");
    if (!Speaking::can_be_drawn()) return;
    for (const std::string& typed : {std::string(tr("Theme: light")), std::string("Theme: light")}) {
        Driver d;
        d.press(Key::p, with_ctrl);
        d.hands.type(typed);
        d.settle();
        d.press(Key::enter);
        INFO(typed);
        CHECK_FALSE(d.state.is_dark());
    }
}

TEST_CASE("files are English in every window") {
    const TemporaryFolder folder;
    // All that each tab offers, in one format of text.
    const auto exported = [&] {
        std::vector<std::string> files;
        for (const Lab& lab : labs()) {
            Driver d("reverse");
            open_tab(d, lab);
            for (const ExportChoice& choice : export_choices(d.session, d.state)) {
                const std::string path = folder.file(std::to_string(files.size()) + ".svg");
                export_exhibit(choice.in_english(), path);
                files.push_back(read_text(path));
            }
        }
        return files;
    };
    const std::vector<std::string> english = exported();
    CHECK(english.size() > labs().size());
    const Speaking speaking("zh_CN");
    const std::vector<std::string> in_chinese_window = exported();
    REQUIRE(in_chinese_window.size() == english.size());
    for (std::size_t i = 0; i < english.size(); ++i) CHECK(in_chinese_window[i] == english[i]);
}
