#include "engine/base/error.h"
#include "engine/base/translate.h"
#include "tests/catch.h"

using namespace decoderscope::testing;

namespace {

// A language other than English, with three plural forms as in Polish: one, few, many.
const Catalog& other_language() {
    static const Catalog catalog = [] {
        Catalog made([](std::int64_t n) -> std::size_t {
            if (n == 1) return 0;
            return n % 10 >= 2 && n % 10 <= 4 && (n % 100 < 12 || n % 100 > 14) ? 1 : 2;
        });
        made.add("", "Open", {"Otwarty"});
        made.add("verb", "Open", {"Otwórz"});
        made.add("", "{a} before {b}", {"po {b} stoi {a}"});
        made.add("", "{count} step", {"{count} krok", "{count} kroki", "{count} kroków"});
        made.add("", "the header", {"nagłówek"});
        made.add("", "{where}: {error}", {"{where} – {error}"});
        return made;
    }();
    return catalog;
}

// Switches to the other language while it lives.
struct Speaking {
    Speaking() { speak(other_language()); }
    ~Speaking() {
        static const Catalog english;
        speak(english);
    }
};

}  // namespace

TEST_CASE("in English a message says what is written", "[messages]") {
    CHECK(std::string(tr("Open")) == "Open");
    CHECK(tr("{a} before {b}", {{"a", "x"}, {"b", 3}}) == "x before 3");
    CHECK(tr_n("{count} step", "{count} steps", 1) == "1 step");
    CHECK(tr_n("{count} step", "{count} steps", 0) == "0 steps");
}

TEST_CASE("braces that name no argument stay as they are", "[messages]") {
    CHECK(tr("an object {…}", {}) == "an object {…}");
    CHECK(tr("layers.{l} of {a}", {{"a", "{l}"}}) == "layers.{l} of {l}");
    CHECK(tr("{ {a", {{"a", 1}}) == "{ {a");
}

TEST_CASE("a text without places allocates nothing and stays where it is", "[messages]") {
    CHECK(tr("Open") == tr("Open"));
    const Speaking other;
    const char* said = tr("Open");
    CHECK(said == tr("Open"));
    CHECK(std::string(said) == "Otwarty");
}

TEST_CASE("a language has its own order, plural forms and contexts", "[messages]") {
    const Speaking other;
    CHECK(tr("{a} before {b}", {{"a", 1}, {"b", 2}}) == "po 2 stoi 1");
    CHECK(tr_n("{count} step", "{count} steps", 1) == "1 krok");
    CHECK(tr_n("{count} step", "{count} steps", 3) == "3 kroki");
    CHECK(tr_n("{count} step", "{count} steps", 12) == "12 kroków");
    CHECK(std::string(tr(message_c("verb", "Open"))) == "Otwórz");
    CHECK(std::string(tr("never translated")) == "never translated");
}

TEST_CASE("a stored sentence is shown in the current language", "[messages]") {
    const Sentence steps = message_n("{count} step", "{count} steps", 22);
    const Error error = [] {
        try {
            naming(message("the header"), [] { throw Error("{a} before {b}", {{"a", 1}, {"b", Sentence("Open")}}); });
        } catch (const Error& thrown) {
            return thrown;
        }
        return Error("nothing was thrown");
    }();
    CHECK(tr(steps) == "22 steps");
    CHECK(tr(error.sentence()) == "the header: 1 before Open");
    const Speaking other;
    CHECK(tr(steps) == "22 kroki");
    CHECK(tr(error.sentence()) == "nagłówek – po Otwarty stoi 1");
    CHECK(std::string(error.what()) == "the header: 1 before Open");
    CHECK(steps.english() == "22 steps");
}

TEST_CASE("a sentence is one line, and not a long one", "[messages]") {
    const Sentence sentence = message("{name}: missing", {{"name", "a\nb" + std::string(9000, 'x')}});
    CHECK(sentence.english().find('\n') == std::string::npos);
    CHECK(sentence.english().size() < 5000);
    CHECK(sentence.english().ends_with(": missing"));
    CHECK(tr(sentence) == sentence.english());
    CHECK(Sentence().empty());
    CHECK(tr(Sentence()).empty());
    CHECK(Sentence::verbatim("{a}").english() == "{a}");
}
