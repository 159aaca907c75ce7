// What is typed into the input bar is run at once, and what is then shown.
#include "app/core/generate/prediction.h"
#include "app/views/input/input_bar.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/letter_models.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

using namespace decoderscope::testing;
using namespace decoderscope::views::input;

namespace {

using Ids = std::vector<float>;

Ids ids(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }
Ids tokens(const Driver& d) { return ids(d.session.shown().scenario.inputs.tokens); }

// Puts the focus into the first box and clears it.
void begin(Driver& d) {
    d.press(Key::i);
    d.press(Key::a, with_ctrl);
}

void type(Driver& d, std::string_view text) {
    d.hands.type(text);
    d.settle();
}

// Enter doesn't make lines: they are pasted.
void paste(Driver& d, const char* text) {
    Copied clipboard;
    compat::set_clipboard(clipboard);
    ImGui::SetClipboardText(text);
    d.press(Key::v, with_ctrl);
}

// The text drawn in the input bar.
std::string written(const Driver& d, float scale = 1.0F) {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (piece.high.y < 48 * scale) all += piece.text + "|";
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
    // The run is greyed without anything else happening: until then, another frame is asked for.
    ImGui::GetIO().DeltaTime = 0.05F;
    for (int i = 0; i < 60 && std::exchange(d.state.busy, false); ++i) d.settle_one();
    CHECK(d.sees("previousinput"));
    d.press(Key::backspace);
    CHECK_FALSE(contains(written(d), "vocabulary"));
    CHECK(tokens(d) == Ids{1, 3, 4});
}

TEST_CASE("what is wrong with the source is said behind the fields, whichever is typed into next") {
    Driver d("reverse");
    begin(d);
    type(d, "a0");
    REQUIRE(find_text(d.seen(), "source:\"0\"isnotinthevocabulary"));
    const auto target = find_text(d.seen(), "redoced");
    REQUIRE(target);
    d.click(target->middle());
    d.press(Key::end);
    type(d, "x");
    CHECK(find_text(d.seen(), "source:\"0\"isnotinthevocabulary"));
    // Once it can be run, what is wrong with the target is said.
    type(d, "0");
    d.press(Key::enter);
    begin(d);
    type(d, "ab");
    CHECK(find_text(d.seen(), "target:\"0\"isnotinthevocabulary"));
}

TEST_CASE("of the rows typed into a box of one line, one is seen, and a click at the edge of the box begins typing") {
    Driver d("reverse");
    d.apply(command::ChooseBatch{1});
    const auto in_box = [&](const DrawnText& piece) {
        return piece.low.x > 100.0F && piece.high.x < 300.0F && piece.high.y < 48.0F;
    };
    std::vector<DrawnText> seen;
    std::ranges::copy_if(d.seen(), std::back_inserter(seen), in_box);
    REQUIRE(seen.size() == 1);
    CHECK(seen.front().text == "transformer");
    d.point({seen.front().middle().x, 9.5F});
    for (const bool down : {true, false}) {  // held for some frames
        d.hands.push(MouseButton{Button::left, down, {}});
        d.settle();
    }
    CHECK(typing());
    type(d, "s");
    CHECK(d.sees("sdecoder"));  // at the beginning, where it was left
    // Wherever in the box above the tokens' colours: between its frame and its field, too.
    for (float y = 8.5F; y < 29.0F; y += 0.5F) {
        INFO(y);
        d.press(Key::escape);
        d.click({seen.front().middle().x, y});
        CHECK(typing());
    }
}

TEST_CASE("Enter ends the typing, and leaves the row as it is") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "abc");
    d.press(Key::enter);
    CHECK(tokens(d) == Ids{1, 3, 4, 5});
    CHECK_FALSE(typing());
    const bool dark = d.state.is_dark();
    d.press(Key::t);  // a shortcut again
    CHECK(d.state.is_dark() != dark);
    CHECK(tokens(d) == Ids{1, 3, 4, 5});
    d.press(Key::i);
    d.press(Key::end);
    type(d, "e");
    d.press(Key::enter, with_ctrl);
    CHECK(tokens(d) == Ids{1, 3, 4, 5, 7});
    CHECK_FALSE(typing());
}

TEST_CASE("+ sequence in the model's menu adds a row, a copy of the one that the stage is about, and goes there") {
    for (const bool two : {false, true}) {
        Driver d(two ? letter_translator() : letter_decoder());
        const Tensor before = d.session.scenario().inputs.tokens;
        const Index rows = before.dim(0);
        REQUIRE(d.click_text("▾"));
        REQUIRE(d.click_text("+sequence"));
        const Inputs& in = d.session.scenario().inputs;
        REQUIRE(in.tokens.dim(0) == rows + 1);
        const auto row = [](const Tensor& tokens, Index at) {
            const auto length = static_cast<std::size_t>(tokens.dim(1));
            const auto part = tokens.values().subspan(static_cast<std::size_t>(at) * length, length);
            return Ids{part.begin(), part.end()};
        };
        CHECK(row(in.tokens, rows) == row(before, 0));
        for (Index at = 0; at < rows; ++at) CHECK(row(in.tokens, at) == row(before, at));
        if (two) CHECK(in.encoder_tokens.dim(0) == rows + 1);
        CHECK(d.session.cursor().place.batch == rows);
        d.press(Key::z, with_ctrl);
        CHECK(d.session.scenario().inputs.tokens.dim(0) == rows);
    }
}

TEST_CASE("lines that are pasted are rows of the batch, whose padding is seen and hidden") {
    Driver d(letter_decoder());
    begin(d);
    paste(d, "abc\ne");
    CHECK(tokens(d) == Ids{1, 3, 4, 5, 1, 7, 0, 0});
    CHECK(ids(d.session.shown().scenario.inputs.attention_mask) == Ids{1, 1, 1, 1, 1, 1, 0, 0});
    // While it is typed, the row that is seen has its own answer, behind the bar.
    const auto answer = [&](Index row) {
        const Snapshot& shown = d.session.shown();
        const auto next = core::generate::next_answer(d.session.derived(), shown.scenario, shown.run, row);
        return core::generate::percent_text(next->shown->likely.front().probability);
    };
    REQUIRE(answer(0) != answer(1));
    std::string second = answer(1);
    std::erase(second, ' ');
    INFO(written(d));
    CHECK(d.sees(second));
    // Padding has a colour, and isn't written.
    CHECK(std::ranges::none_of(d.seen(),
                               [](const DrawnText& piece) { return piece.text == "<pad>" && piece.high.x < 430.0F; }));
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
    begin(d);
    type(d, "abc");
    CHECK(ids(d.session.shown().scenario.inputs.encoder_tokens) == Ids{1, 3, 4, 5});
    paste(d, "\nde");
    CHECK(d.session.shown().scenario.batch() == 2);
    CHECK(tokens(d).back() == 0);  // a target that has only begun, padded
    // The second box, reached with Tab or with the mouse.
    d.click({d.token_in_field(0).x + 20.0F, 18.0F});
    d.press(Key::a, with_ctrl);
    paste(d, "c\ne");
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
    d.apply(command::OpenModel{"causal-lm"});
    CHECK(d.state.part<InputBarState>().target.ids);
    CHECK(contains(d.state.part<InputBarState>().target.text, " "));
}

TEST_CASE("what changes the tokens while the box has the keyboard is shown in it, and not taken back") {
    Driver d(letter_decoder());
    begin(d);
    type(d, "ab");
    d.apply(command::TypeInput{{.target = Typed{.text = "abc"}}});
    CHECK(d.state.part<InputBarState>().target.text == "abc");
    CHECK(tokens(d) == Ids{1, 3, 4, 5});
    d.press(Key::i);
    d.press(Key::end);
    type(d, "d");
    CHECK(tokens(d) == Ids{1, 3, 4, 5, 6});
}

TEST_CASE("ids are typed into a model whose pieces only label, and their pieces are told") {
    Driver d(labelled_decoder());
    begin(d);
    type(d, "1 2 3");
    CHECK(tokens(d) == Ids{1, 2, 3});
    const std::array pieces = {"one", "two", "three"};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        d.point(d.token_in_field(static_cast<Index>(i)));
        CHECK(d.sees(pieces[i]));
    }
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

TEST_CASE("a token's colour is its id's") {
    std::set<ImU32> colors;
    for (Index id = 0; id < 24; ++id) {
        CHECK(chip_color(id, true) == chip_color(id, true));
        colors.insert(chip_color(id, true));
        colors.insert(chip_color(id, false));
    }
    CHECK(colors.size() == 48);
}

TEST_CASE("a thousand tokens stay within the field, and the end of what is typed is seen") {
    Driver d(byte_decoder());
    std::string text;
    while (text.size() < 1000) text += "transformer ";
    d.apply(command::TypeInput{{.target = Typed{.text = text}}});
    begin(d);
    d.press(Key::end);
    type(d, "!?");
    check_layout(d, {1280, 800});
    CHECK(tokens(d).size() == text.size() + 2);
    std::string end = written(d);
    std::erase(end, '|');
    INFO(end);
    CHECK(contains(end, "transformer!?"));
    d.press(Key::escape);
    check_layout(d, {1280, 800});
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
                paste(d, model->tokenizer.can_encode() ? "\nab" : "\n1");
                check_layout(d, screen.size);
            }
            d.press(Key::escape);
            check_layout(d, screen.size);
        }
    }
}
