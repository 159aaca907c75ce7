// What is typed into the input bar is run at once, and what is then shown.
#include "app/views/input/input_bar.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/letter_models.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <cmath>
#include <set>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views::input;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

using Ids = std::vector<float>;

Ids ids(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }
Ids tokens(const Driver& d) { return ids(d.session.shown().scenario.inputs.tokens); }

// Puts the focus into the first box and clears it.
void begin(Driver& d) {
    d.hands.tap(Key::i);
    d.settle();
    d.hands.tap(Key::a, with_ctrl);
    d.settle();
}

void type(Driver& d, std::string_view text) {
    d.hands.type(text);
    d.settle();
}

// The text drawn in the input bar.
std::string written(const Driver& d, float scale = 1.0F) {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (piece.low.y > 44 * scale && piece.high.y < 120 * scale && piece.low.y < 100 * scale)
            all += piece.text + "|";
    return all;
}

}  // namespace

TEST_CASE("each letter typed into the box is run at once, and undone as one") {
    Driver d(letter_decoder());
    const Ids before = tokens(d);
    begin(d);
    for (const auto& [letter, expected] :
         std::vector<std::pair<const char*, Ids>>{{"a", {1, 3}}, {"b", {1, 3, 4}}, {"e", {1, 3, 4, 7}}}) {
        const auto version = d.session.shown().version;
        type(d, letter);
        CHECK(tokens(d) == expected);
        CHECK(d.session.shown().version > version);
        CHECK(d.session.shown().run->value("embed").dim(1) == static_cast<Index>(expected.size()));
    }
    CHECK(contains(written(d), "<bos>"));
    d.press(Key::escape);
    CHECK(tokens(d) == Ids{1, 3, 4, 7});
    d.press(Key::z, with_ctrl);
    CHECK(tokens(d) == before);
    CHECK_FALSE(d.session.can_undo());
}

TEST_CASE("letters are text while the box has the keyboard, and keys again after Esc") {
    Driver d(letter_decoder());
    begin(d);
    const std::string tab = d.state.tab;
    const bool dark = d.state.is_dark();
    d.hands.push(KeyEvent{Key::d, true, {}});
    d.hands.push(Character{U'd'});
    d.hands.push(KeyEvent{Key::d, false, {}});
    d.settle();
    CHECK(tokens(d) == Ids{1, 6});
    CHECK_FALSE(d.session.scenario().dropout_seed);
    d.press(Key::right);
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
    CHECK(d.state.tab == tab);
    d.press(Key::escape);
    d.press(Key::t);
    CHECK(d.state.is_dark() != dark);
}

TEST_CASE("a text that can't be cut leaves the run and says why beside the box") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "ab");
    type(d, "?");
    CHECK(tokens(d) == Ids{1, 3, 4});
    CHECK(contains(written(d), "\"?\"isnotinthevocabulary"));
    CHECK_FALSE(d.session.message());
    d.press(Key::backspace);
    CHECK_FALSE(contains(written(d), "vocabulary"));
    CHECK(tokens(d) == Ids{1, 3, 4});
}

TEST_CASE("Enter makes another row of the batch, whose padding is seen and hidden") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "abc");
    d.press(Key::enter);
    type(d, "e");
    CHECK(tokens(d) == Ids{1, 3, 4, 5, 1, 7, 0, 0});
    CHECK(ids(d.session.shown().scenario.inputs.attention_mask) == Ids{1, 1, 1, 1, 1, 1, 0, 0});
    CHECK(contains(written(d), "2lines"));
    // Padding is hatched, not written.
    CHECK_FALSE(contains(written(d), "<pad>"));
}

TEST_CASE("Shift+Enter begins another document of the row, and undo takes back what was typed") {
    Driver d(letter_decoder());
    const Ids before = tokens(d);
    begin(d);
    type(d, "ab");
    d.press(Key::enter, with_shift);
    CHECK(contains(written(d), "ab‖"));
    type(d, "e");
    CHECK(tokens(d) == Ids{1, 3, 4, 1, 7});
    CHECK(ids(d.session.shown().scenario.inputs.segments) == Ids{0, 0, 0, 1, 1});
    d.press(Key::escape);
    d.press(Key::z, with_ctrl);
    CHECK(tokens(d) == before);
    CHECK(d.session.shown().scenario.inputs.segments.empty());
}

TEST_CASE("source and target are typed side by side, and run whatever lines the one has before the other") {
    Driver d(letter_translator());
    CHECK(contains(written(d), "Source"));
    CHECK(contains(written(d), "Target"));
    begin(d);
    type(d, "abc");
    CHECK(ids(d.session.shown().scenario.inputs.encoder_tokens) == Ids{1, 3, 4, 5});
    d.press(Key::enter);
    type(d, "de");
    CHECK(d.session.shown().scenario.batch() == 2);
    CHECK(tokens(d).back() == 0);  // a target that has only begun, padded
    // The second box, reached with Tab or with the mouse.
    d.click(d.behind("Target").middle());
    d.press(Key::a, with_ctrl);
    type(d, "c");
    d.press(Key::enter);
    type(d, "e");
    CHECK(ids(d.session.shown().scenario.inputs.encoder_tokens) == Ids{1, 3, 4, 5, 1, 6, 7, 0});
    CHECK(tokens(d) == Ids{1, 5, 1, 7});
    CHECK(d.session.input_error().empty());
}

TEST_CASE("the box shows what is run after undo, and after another model was opened") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "abcde");
    d.press(Key::escape);
    begin(d);
    type(d, "ee");
    d.press(Key::escape);
    CHECK(d.state.part<InputBarState>().target.text == "ee");
    d.press(Key::z, with_ctrl);
    CHECK(d.state.part<InputBarState>().target.text == "abcde");
    d.press(Key::y, with_ctrl);
    CHECK(d.state.part<InputBarState>().target.text == "ee");
    d.session.apply(command::OpenModel{"causal-lm"});
    d.session.finish();
    d.settle();
    CHECK(d.state.part<InputBarState>().target.ids);
    CHECK(contains(d.state.part<InputBarState>().target.text, " "));
}

TEST_CASE("what changes the tokens while the box has the keyboard is shown in it, and not taken back") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "ab");
    d.session.apply(command::TypeInput{{.target = Typed{.text = "abc"}}});
    d.session.finish();
    d.settle();
    CHECK(d.state.part<InputBarState>().target.text == "abc");
    CHECK(tokens(d) == Ids{1, 3, 4, 5});
    d.press(Key::i);
    d.press(Key::end);
    type(d, "d");
    CHECK(tokens(d) == Ids{1, 3, 4, 5, 6});
}

TEST_CASE("ids are typed into a model whose pieces only label, and the chips are the pieces") {
    Driver d(labelled_decoder());
    begin(d);
    type(d, "1 2 3");
    CHECK(tokens(d) == Ids{1, 2, 3});
    for (const char* piece : {"one", "two", "three"}) CHECK(contains(written(d), piece));
}

TEST_CASE("a model of vectors has no input bar") {
    Driver d("simple-decoder");
    const auto pieces = d.seen();
    CHECK_FALSE(find_text(pieces, "Input"));
    d.press(Key::i);
    CHECK(d.session.shown().run);
}

TEST_CASE("an emoji is typed, kept when the box is left and entered again, and deleted as one") {
    Driver d(byte_decoder());
    begin(d);
    type(d, "a😀b");
    const Ids typed = {'a', 0xF0, 0x9F, 0x98, 0x80, 'b'};
    CHECK(tokens(d) == typed);
    d.press(Key::escape);
    d.press(Key::i);
    d.press(Key::end);
    type(d, "c");
    CHECK(tokens(d) == Ids{'a', 0xF0, 0x9F, 0x98, 0x80, 'b', 'c'});
    d.press(Key::backspace);
    d.press(Key::backspace);
    d.press(Key::backspace);
    CHECK(tokens(d) == Ids{'a'});
}

TEST_CASE("wide characters are carried through a box of 16 bits and back") {
    for (const char32_t code : {U'\U00010000', U'\U0001F600', U'\U0010FFFF'}) CHECK(carriers_of(code).size() == 4);
    for (const char* text : {"", "plain é 文", "a😀b👨‍👩‍👧\U0010FFFF", "\uFFFD"})
        CHECK(from_carriers(to_carriers(text)) == text);
    std::string cut = to_carriers("a😀b");
    CHECK(broken_carriers(cut).empty());
    cut.erase(4, 3);
    CHECK(broken_carriers(cut) == std::vector<std::pair<std::size_t, std::size_t>>{{1, 9}});
    CHECK(from_carriers(cut) == "ab");
}

TEST_CASE("a chip's colour is its id's") {
    std::set<ImU32> colors;
    for (Index id = 0; id < 24; ++id) {
        CHECK(chip_color(id, true) == chip_color(id, true));
        colors.insert(chip_color(id, true));
        colors.insert(chip_color(id, false));
    }
    CHECK(colors.size() == 48);
}

TEST_CASE("a thousand tokens stay within the bar, and the end of what is typed is seen") {
    Driver d(byte_decoder());
    std::string text;
    while (text.size() < 1000) text += "transformer ";
    d.session.apply(command::TypeInput{{.target = Typed{.text = text}}});
    d.session.finish();
    d.settle();
    begin(d);
    d.press(Key::end);
    type(d, "!?");
    check_layout(d, {1280, 800});
    CHECK(tokens(d).size() == text.size() + 2);
    std::string end = written(d);
    std::erase(end, '|');
    INFO(end);
    CHECK(contains(end, "mer␣!?"));
    d.press(Key::escape);
    check_layout(d, {1280, 800});
    INFO(written(d));
    CHECK(contains(written(d), "…"));
}

TEST_CASE("the input bar neither overlaps nor leaves the window") {
    for (const Screen& screen : kScreens) {
        for (const auto& model : {letter_decoder(), letter_translator(), labelled_decoder(), byte_decoder()}) {
            Driver d(model, screen.scale, screen.size);
            check_layout(d, screen.size);
            begin(d);
            type(d, model->tokenizer.can_encode() ? "abcdeabcde" : "1 2 3");
            check_layout(d, screen.size);
            for (int line = 0; line < 4; ++line) {
                d.press(Key::enter);
                type(d, model->tokenizer.can_encode() ? "ab" : "1");
                check_layout(d, screen.size);
            }
            d.press(Key::escape);
            check_layout(d, screen.size);
        }
    }
}
