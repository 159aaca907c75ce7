// Characters beyond those that the fonts are loaded with: drawn if an installed font has them, otherwise named.
#include "app/core/text/token_text.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"
#include "engine/platform/folders.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <array>
#include <set>

using namespace decoderscope::testing;

namespace {

// A path in the message line can hold any text.
void show(Driver& d, const std::string& text) {
    d.apply(command::Tell{Sentence::verbatim(text), false});
    d.settle();
}

}  // namespace

TEST_CASE("a text in another alphabet is drawn with its own letters") {
    Driver d;
    CHECK_FALSE(d.sees("Модель"));
    show(d, "Модель");
    CHECK(d.sees("Модель"));
    CHECK(std::ranges::none_of(d.fonts().missing, [](char32_t code) { return code == U'М'; }));
    CHECK(d.sees("blocks.0.attn.pattern"));  // everything else is still there
}

TEST_CASE("Chinese is drawn where a font has it, and named where none has") {
    Driver d;
    show(d, "你好");
    const bool lacking = std::ranges::find(d.fonts().missing, U'你') != d.fonts().missing.end();
    CHECK(d.sees("你好") != lacking);
    CHECK((d.fonts().missing.empty() ||
           missing_glyphs_sentence(d.fonts().missing, 0xFFFF).english().find("U+4F60") != std::string::npos));
}

TEST_CASE("what typed text needs is noted, too") {
    Driver d("reverse");
    d.press(Key::i);
    d.hands.type("жизнь");
    d.settle();
    d.settle();
    CHECK(d.sees("жизнь"));
}

TEST_CASE("fonts are loaded again only for new characters") {
    GlyphDemand demand;
    demand.load_language();
    CHECK_FALSE(demand.grew());
    demand.note(U'你');
    CHECK(demand.grew());
    demand.loaded({U'你'});
    demand.note(U'你');
    CHECK_FALSE(demand.grew());
    CHECK(demand.missing() == std::set<char32_t>{U'你'});
    const Catalog other;
    speak(other);
    CHECK(demand.grew());  // for the characters of the other language
    speak_english();
    CHECK_FALSE(demand.grew());
    for (char32_t code = 0x4E00; code < 0x4E00 + 3 * GlyphDemand::kMost; ++code) demand.note(code);
    CHECK(demand.asked().size() == GlyphDemand::kMost);
}

TEST_CASE("what cannot be drawn is said by code point, with what helps where something does") {
    const std::array<char32_t, 2> chinese = {U'你', U'好'};
    CHECK(missing_glyphs_sentence(chinese, 0xFFFF).english() == "No installed font has U+4F60, U+597D: install " +
                                                                    platform::east_asian_fonts() +
                                                                    ", then start again. The model still reads them.");
    const std::array<char32_t, 1> emoji = {0x1F600};
    CHECK(missing_glyphs_sentence(emoji, 0xFFFF).english() ==
          "This window cannot draw U+1F600; the model still reads them.");
    const std::array<char32_t, 3> both = {U'ก', U'你', 0x1F600};  // no font that the window looks for has the first
    CHECK(missing_glyphs_sentence(both, 0xFFFF).english() ==
          "No installed font has U+4F60: install " + platform::east_asian_fonts() +
              ", then start again. The model still reads them. This window cannot draw U+0E01, U+1F600; the "
              "model still reads them.");
    CHECK(missing_glyphs_sentence({}, 0xFFFF).empty());
}

TEST_CASE("a character that no font has is drawn by its code point") {
    Driver d;
    show(d, "a 😀 b");
    CHECK(d.sees("U+1F600"));
}
