// The window in every language that comes with it.
#include "app/core/figure/export.h"
#include "app/core/language/languages.h"
#include "app/views/frame/tab.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::language;

namespace {

std::multiset<std::string> texts_of(const Driver& d) {
    std::multiset<std::string> texts;
    for (const DrawnText& piece : d.seen()) texts.insert(piece.text);
    return texts;
}

}  // namespace

TEST_CASE("Chinese comes with the program, by its own name") {
    const std::vector<Language> known = languages();
    const auto chinese = std::ranges::find(known, "zh_CN", &Language::code);
    REQUIRE(chinese != known.end());
    CHECK(chinese->name == "简体中文");
    CHECK(known.front().code == kEnglish);
}

TEST_CASE("a language that is chosen while the window is open shows what one shows that was chosen before") {
    for (const std::string& code : translations()) {
        Speaking speaking(code);  // without a font for it, every character stands there as another one, in both windows
        for (const Tab& tab : looked_at(tabs(), 3)) {
            INFO(code << ", " << tab.id);
            speaking.change(code);
            std::multiset<std::string> chosen_before;
            {
                Driver fresh("reverse");
                open_tab(fresh, tab);
                chosen_before = texts_of(fresh);
            }
            speaking.change(std::string(kEnglish));
            Driver changed("reverse");
            open_tab(changed, tab);
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
    CHECK(d.click_label("Sameasthesystem"));
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
    d.press(Key::enter);
    CHECK(d.state.settings.language == "de");
}

TEST_CASE("actions are found by their name in the window's language and in English") {
    const Speaking speaking("zh_CN");
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
        for (const Tab& tab : looked_at(tabs(), 3)) {
            Driver d("reverse");
            open_tab(d, tab);
            for (const ExportChoice& choice : export_choices(d.session, d.state)) {
                const std::string path = folder.file(std::to_string(files.size()) + ".svg");
                export_exhibit(choice.in_english(), path);
                files.push_back(read_text(path));
            }
        }
        return files;
    };
    const std::vector<std::string> english = exported();
    CHECK(english.size() > looked_at(tabs(), 3).size());
    const Speaking speaking("zh_CN");
    const std::vector<std::string> in_chinese_window = exported();
    REQUIRE(in_chinese_window.size() == english.size());
    for (std::size_t i = 0; i < english.size(); ++i) CHECK(in_chinese_window[i] == english[i]);
}
