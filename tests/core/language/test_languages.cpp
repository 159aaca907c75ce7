#include "app/core/language/languages.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/platform/folders.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::language;

namespace {

Environment environment(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
}

const std::vector<Language> kKnown = {
    {"en", "English", ""}, {"de", "Deutsch", "de.po"}, {"zh_CN", "简体中文", "zh_CN.po"}};

std::string asked_by(std::map<std::string, std::string> variables) {
    return language_of(environment(std::move(variables)), kKnown);
}

std::string po(const std::string& save) {
    return "msgid \"\"\nmsgstr \"\"\n\"X-Language-Name: 我们\\n\"\n\"Plural-Forms: nplurals=1; plural=0;\\n\"\n\n"
           "msgid \"Save\"\nmsgstr \"" +
           save + "\"\n";
}

}  // namespace

TEST_CASE("the system's language is what its environment says, as for other programs") {
    CHECK(asked_by({}) == "en");
    CHECK(asked_by({{"LANG", "zh_CN.UTF-8"}}) == "zh_CN");
    CHECK(asked_by({{"LANG", "zh_SG.UTF-8"}}) == "zh_CN");
    CHECK(asked_by({{"LANG", "zh"}}) == "zh_CN");
    CHECK(asked_by({{"LANG", "de_AT.UTF-8@euro"}}) == "de");
    CHECK(asked_by({{"LANG", "fr_FR.UTF-8"}}) == "en");
    CHECK(asked_by({{"LANG", "en_GB.UTF-8"}}) == "en");
    // The order of the variables.
    CHECK(asked_by({{"LANG", "de_DE"}, {"LC_MESSAGES", "zh_CN"}}) == "zh_CN");
    CHECK(asked_by({{"LC_MESSAGES", "zh_CN"}, {"LC_ALL", "de_DE"}}) == "de");
    CHECK(asked_by({{"LC_ALL", ""}, {"LANG", "de_DE"}}) == "de");
    // LANGUAGE is a list, and goes before them.
    CHECK(asked_by({{"LANG", "de_DE.UTF-8"}, {"LANGUAGE", "fr:zh_CN:de"}}) == "zh_CN");
    CHECK(asked_by({{"LANG", "zh_CN.UTF-8"}, {"LANGUAGE", "en_US:zh"}}) == "en");
    CHECK(asked_by({{"LANG", "zh_CN.UTF-8"}, {"LANGUAGE", "fr"}}) == "zh_CN");
    // The locale C is English, whatever LANGUAGE says.
    CHECK(asked_by({{"LC_ALL", "C"}, {"LANGUAGE", "zh_CN"}, {"LANG", "zh_CN.UTF-8"}}) == "en");
    CHECK(asked_by({{"LANG", "C.UTF-8"}, {"LANGUAGE", "zh_CN"}}) == "zh_CN");
}

TEST_CASE("the languages are English and a folder's .po files, each by its own name") {
    const TemporaryFolder folder;
    write_bytes(folder.file("zz.po"), po("x"));
    write_bytes(folder.file("aa.po"), "nonsense");
    write_bytes(folder.file("notes.txt"), "no language");
    const std::vector<Language> found = languages_in(folder.path());
    REQUIRE(found.size() == 3);
    CHECK(found[0] == Language{"en", "English", ""});
    CHECK(found[1] == Language{"aa", "aa", folder.file("aa.po")});
    CHECK(found[2] == Language{"zz", "我们", folder.file("zz.po")});
    CHECK(languages_in("/nowhere").size() == 1);
}

TEST_CASE("the window's language changes while it runs") {
    const TemporaryFolder folder;
    write_bytes(folder.file("zz.po"), po("保存"));
    write_bytes(folder.file("yy.po"), po("speichern"));
    {
        WindowLanguage language(languages_in(folder.path()), environment({{"LANG", "zz"}}));
        CHECK(tr("Save") == std::string("Save"));
        CHECK(language.follow("").empty());  // the system's
        CHECK(tr("Save") == std::string("保存"));
        CHECK(alphabet_of(spoken()) == std::set<char32_t>{U'保', U'存'});
        CHECK(language.follow("yy").empty());
        CHECK(tr("Save") == std::string("speichern"));
        CHECK(language.follow("en").empty());
        CHECK(tr("Save") == std::string("Save"));
        CHECK(language.follow("a language that was uninstalled").empty());
        CHECK(tr("Save") == std::string("Save"));
        CHECK(language.follow("zz").empty());
    }
    CHECK(tr("Save") == std::string("Save"));  // English again
}

TEST_CASE("a broken file of a language is told in one sentence, and the window stays in English") {
    const TemporaryFolder folder;
    write_bytes(folder.file("zz.po"), po("保存") + "msgid \"cut");
    WindowLanguage language(languages_in(folder.path()), environment({}));
    CHECK(language.follow("zz").english() ==
          folder.file("zz.po") + ": line 8: expected a text in quotation marks. The window stays in English.");
    CHECK(tr("Save") == std::string("Save"));
    CHECK(language.follow("zz").empty());  // said once
}

TEST_CASE("without a font for it, a language is not spoken, and the package is named") {
    const TemporaryFolder folder;
    write_bytes(folder.file("zz.po"), po("保存"));
    WindowLanguage language(languages_in(folder.path()), environment({}));
    CHECK(language.follow("zz").empty());
    const std::vector<char32_t> lacking = {U'保', U'存'};
    CHECK(language.give_up(lacking).english() == "No installed font has the characters of zz: install " +
                                                     platform::east_asian_fonts() +
                                                     ", then start again. The window stays in English.");
    CHECK(tr("Save") == std::string("Save"));
    CHECK(language.follow("zz").empty());  // not tried again
    WindowLanguage other(languages_in(folder.path()), environment({}));
    CHECK(other.follow("zz").empty());
    CHECK(other.give_up(std::vector<char32_t>{U'ก'}).english() ==
          "No font that the window uses has the characters of zz. The window stays in English.");
    CHECK(tr("Save") == std::string("Save"));
}

// The plural rules that gettext's manual lists, each compared with the language's grammar.

namespace {

// The forms of the counts 0 … 25, one digit each.
std::string forms_of(std::string_view header) {
    const PluralRule rule = plural_rule(header);
    std::string forms;
    for (std::int64_t count = 0; count <= 25; ++count) forms += std::to_string(rule.choose(count));
    return forms;
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

}  // namespace

TEST_CASE("a count takes the plural form that the language's rule says") {
    CHECK(forms_of("nplurals=1; plural=0;") == std::string(26, '0'));                // Chinese
    CHECK(forms_of("nplurals=2; plural=n != 1;") == "10111111111111111111111111");   // German
    CHECK(forms_of("nplurals=2; plural=(n > 1);") == "00111111111111111111111111");  // French
    // Russian: 1, 21; 2 to 4, 22 to 24; the others.
    CHECK(forms_of(
              "nplurals=3; plural=n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2;") ==
          "20111222222222222222201112");
    // Slovenian: 1, 2, 3 to 4, the others, in the last two digits.
    const PluralRule slovenian =
        plural_rule("nplurals=4; plural=n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3;");
    CHECK(slovenian.forms == 4);
    CHECK(slovenian.choose(101) == 0);
    CHECK(slovenian.choose(202) == 1);
    CHECK(slovenian.choose(1104) == 2);
    CHECK(slovenian.choose(11) == 3);
}

TEST_CASE("a count below zero takes the form of its magnitude") {
    CHECK(plural_rule("nplurals=2; plural=n != 1;").choose(-1) == 0);
    CHECK(plural_rule("nplurals=2; plural=n != 1;").choose(-2) == 1);
}

TEST_CASE("a rule that cannot be computed does no harm") {
    CHECK(plural_rule("nplurals=2; plural=n % 0;").choose(7) == 0);
    CHECK(plural_rule("nplurals=2; plural=n / 0;").choose(7) == 0);
    CHECK(plural_rule("nplurals=2; plural=7;").choose(1) == 0);  // no such form
}

TEST_CASE("what is no rule is refused") {
    for (const std::string& header :
         {std::string(), std::string("plural=0"), std::string("nplurals=0; plural=0;"),
          std::string("nplurals=99; plural=0;"), std::string("nplurals=2; plural=;"),
          std::string("nplurals=2; plural=n +;"), std::string("nplurals=2; plural=(n;"),
          std::string("nplurals=2; plural=n ? 1;"), std::string("nplurals=2; plural=m;"),
          std::string("nplurals=INTEGER; plural=EXPRESSION;"), "nplurals=2; plural=" + std::string(100000, '(') + "n;",
          "nplurals=2; plural=" + std::string(100000, '!') + "n;",
          "nplurals=2; plural=" + repeated("n +", 100000) + "n;",
          "nplurals=2; plural=" + repeated("n ? 0 : ", 100000) + "n;"}) {
        INFO(header.substr(0, 60));
        CHECK_THROWS_AS(plural_rule(header), Error);
    }
}
