// Every term can be asked: by the mouse, by F1 on it, and in the glossary.
#include "app/core/glossary/glossary.h"
#include "app/views/frame/books.h"
#include "app/views/frame/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/strip_check.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::glossary;

namespace {

// Rests the mouse on a text.
void rest_on(Driver& d, std::string_view part) {
    const auto piece = find_text(d.seen(), part);
    REQUIRE(piece);
    const ImVec2 at = piece->middle_of(part);
    d.point(at);
}

}  // namespace

TEST_CASE("every tab is in the glossary") {
    for (const Tab& tab : tabs()) {
        INFO(tab.id);
        CHECK(find_term(tab.term) != nullptr);
    }
}

TEST_CASE("F1 lists the keys, and F1 again opens the glossary, which is searched by typing") {
    Driver d;
    d.press(Key::f1);
    CHECK(d.state.dialog == Dialog::keys);
    d.press(Key::f1);
    CHECK(d.state.dialog == Dialog::glossary);
    d.hands.type("swiglu");
    d.settle();
    CHECK(d.sees("AthirdLinearofsomeMLPs"));
    CHECK(d.sees("hook_pre"));
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("the keys' dialog has a button for the glossary, and the palette an action") {
    Driver d;
    d.press(Key::f1);
    REQUIRE(d.click_text("Glossary"));
    CHECK(d.state.dialog == Dialog::glossary);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    d.press(Key::p, with_ctrl);
    d.hands.type("glossary");
    d.settle();
    d.press(Key::down);
    d.press(Key::up);
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::glossary);
}

TEST_CASE("a term in the teaching text says what it means under the mouse, and F1 opens its entry") {
    Driver d;
    d.apply(command::GoTo{"blocks.0.attn.z"});
    CHECK_FALSE(d.sees("Whatapositionlooksfor"));
    // "Each query takes the values of the keys …", and not the axes above.
    const float inspector = d.stage().high.x;
    const auto line = std::ranges::find_if(d.seen(), [&](const DrawnText& piece) {
        return piece.low.x > inspector && piece.text.find("query") != std::string::npos &&
               piece.text.find_first_of("[]") == std::string::npos;
    });
    REQUIRE(line != d.seen().end());
    const ImVec2 word = line->middle_of("query");
    d.point(word);
    CHECK(d.sees("Whatapositionlooksfor"));
    d.press(Key::f1);
    REQUIRE(d.state.dialog == Dialog::glossary);
    CHECK(d.state.part<GlossaryState>().term == "query");
    CHECK(d.sees("inTransformerLens"));
    CHECK(d.sees("hook_q"));
    CHECK(d.sees("alsoqueries") == false);
    CHECK(d.sees("also:queries"));
}

TEST_CASE("the step's name and the tabs' titles are terms, too") {
    Driver d;
    rest_on(d, "Compare");
    CHECK(d.state.part<GlossaryState>().pointed_at == "difference");
    CHECK(d.sees("Whatdoesthenormplacementchange?"));
    d.press(Key::f1);
    CHECK(d.state.part<GlossaryState>().term == "difference");
    REQUIRE(d.click_text("OpenthetabDiff"));
    CHECK(d.state.tab == "compare");
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("F1 on any label that names a term opens its entry: on the strip, at the lists, on a tensor's name") {
    const auto asked = [](const char* model, const char* label) {
        Driver d(model);
        rest_on(d, label);
        d.press(Key::f1);
        CHECK(d.state.dialog == Dialog::glossary);
        return d.state.dialog == Dialog::glossary ? d.state.part<GlossaryState>().term : std::string();
    };
    CHECK(asked("reverse", "norm") == "norm");
    CHECK(asked("reverse", "z") == "z");
    CHECK(asked("reverse", "block1") == "block");
    CHECK(asked("reverse", "head") == "head");
    CHECK(asked("reverse", "softmax") == "softmax");
    Driver d("reverse");
    d.point({640, 790});
    d.press(Key::f1);
    CHECK(d.state.dialog == Dialog::keys);
}

TEST_CASE("an entry leads to its step in this run, and from term to term") {
    Driver d;
    open_glossary(d.state, "z");
    d.settle();
    CHECK(d.sees("Whataheadread"));
    REQUIRE(d.click_text("Gotoblocks.0.attn.z"));
    CHECK(d.session.cursor().step == "blocks.0.attn.z");
    CHECK(d.state.dialog == Dialog::none);
    open_glossary(d.state, "z");
    d.settle();
    const auto meaning = std::ranges::find_if(
        d.seen(), [](const DrawnText& piece) { return piece.text.find("Whataheadread") != std::string::npos; });
    REQUIRE(meaning != d.seen().end());
    const ImVec2 at = meaning->middle_of("values");
    d.click(at);
    CHECK(d.state.part<GlossaryState>().term == "value");
    CHECK(d.sees("hook_v"));
}

TEST_CASE("the glossary fits at every size") {
    for (const auto& [scale, size] : kWindows) {
        for (const char* id : {"residual-stream", "scale", "self-attention", "logit-lens", "layernorm"}) {
            Driver d("reverse", scale, size);
            open_glossary(d.state, id);
            d.settle();
            INFO(id << " at " << size.x << " x " << size.y << ", text " << scale);
            const auto heading = std::ranges::find_if(
                d.seen(), [](const DrawnText& piece) { return piece.text.starts_with("Glossary"); });
            REQUIRE(heading != d.seen().end());
            // The dialog is drawn last; its text neither leaves the window nor overlaps.
            std::vector<DrawnText> dialog(heading, d.seen().end());
            float bottom = 0.0F;
            for (const DrawnText& piece : dialog) {
                CHECK(piece.high.x <= size.x);
                CHECK(piece.high.y <= size.y);
                CHECK_FALSE(piece.text.ends_with("…"));
                bottom = std::max(bottom, piece.high.y);
                for (const DrawnText& other : dialog) {
                    if (&piece == &other) continue;
                    const float wide = std::min(piece.high.x, other.high.x) - std::max(piece.low.x, other.low.x);
                    const float high = std::min(piece.high.y, other.high.y) - std::max(piece.low.y, other.low.y);
                    if (wide > 1.0F && high > 2.0F)
                        FAIL_CHECK("\"" << piece.text << "\" overlaps \"" << other.text << "\"");
                }
            }
            CHECK(bottom < size.y * 0.98F);
        }
    }
}
