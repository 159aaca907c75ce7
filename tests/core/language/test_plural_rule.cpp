// The plural rules that gettext's manual lists, each compared with the language's grammar.
#include "app/core/language/languages.h"
#include "engine/base/error.h"
#include "tests/catch.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core::language;

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
