// What the model answers, on the first screen: the next token, what is expected after each, and targets that the model
// writes.
#include "app/core/generate/prediction.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/input/input_bar.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/letter_models.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::views::input;

namespace {

void type_target(Driver& d, const char* text) { d.apply(command::TypeInput{{.target = Typed{.text = text}}}); }

// The text of the line with the fields.
std::vector<DrawnText> in_bar(const Driver& d, float scale = 1.0F) {
    std::vector<DrawnText> found;
    for (const DrawnText& piece : d.seen())
        if (piece.high.y < 48 * scale) found.push_back(piece);
    return found;
}

bool says_next(const Driver& d, std::string_view token) {
    return std::ranges::any_of(in_bar(d), [&](const DrawnText& piece) { return piece.text == token; });
}

// What a token's tooltip says.
bool tells(Driver& d, Index position, std::string_view text) {
    d.point(d.token_in_field(position));
    return d.sees(text);
}

}  // namespace

TEST_CASE("the default screen says what the model answers, and each token whether it was expected") {
    Driver d("reverse");
    CHECK(says_next(d, "<eos>"));
    CHECK(says_next(d, "100%"));
    CHECK(tells(d, 2, "✓right:“d”follows"));
    d.point(find_text(in_bar(d), "<eos>")->middle());
    CHECK(d.sees("18of18nexttokensarepredictedright"));
    d.apply(command::ChooseBatch{1});
    CHECK(tells(d, 2, "✓right:“m”follows"));
    d.session.apply(command::ChooseBatch{0});
    type_target(d, "redxced");
    CHECK(tells(d, 3, "✗wrong:“x”follows"));
}

TEST_CASE("a prediction under the mouse tells the probabilities of the run") {
    Driver d("verses");
    CHECK(tells(d, 1, "afterposition1themodelpredicts"));
    const Tensor& probs = d.session.shown().run->value("probs");
    const Index token = d.session.scenario().tokenizer().encode("n").back();
    CHECK(d.sees("“n”"));
    CHECK(d.sees(short_number_text(static_cast<double>(probs.at(Cell{0, 1, token})), 4)));
    CHECK(d.sees("✓right:“n”follows"));
    // The answer is what follows the last token, and a click shows all of it.
    const Index last = d.session.scenario().inputs.pos() - 1;
    const auto likely = generate::likely_answers(*d.session.shown().run, 0, last, 1);
    const auto answer = find_text(in_bar(d), token_text(d.session.scenario().tokenizer(), likely.front().token));
    REQUIRE(answer);
    d.click(answer->middle());
    CHECK(d.state.tab == "generate");
}

TEST_CASE("a model without a vocabulary shows no predictions") {
    Driver d;
    for (const DrawnText& piece : in_bar(d)) {
        INFO(piece.text);
        CHECK(piece.text.find("predicts") == std::string::npos);
        CHECK(piece.text.find("✓") == std::string::npos);
        CHECK(piece.text.find("✗") == std::string::npos);
    }
}

TEST_CASE("probabilities have tokens on their axis") {
    Driver d("reverse");
    d.press(Key::end);
    REQUIRE(d.session.cursor().step == "probs");
    CHECK(d.find_on_stage("q"));  // a letter that stands in no other text there
    CHECK_FALSE(d.find_on_stage("28"));
}

TEST_CASE("a click on a token selects its position on the stage, in its row of the batch") {
    Driver d("reverse");
    REQUIRE(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    d.apply(command::ChooseBatch{1});
    d.click(d.token_in_field(3));  // <bos> r e m
    REQUIRE(d.session.cursor().cell);
    CHECK((*d.session.cursor().cell)[0] == 1);
    CHECK((*d.session.cursor().cell)[2] == 3);
    d.click(d.token_in_field(1, true));
    CHECK((*d.session.cursor().cell)[2] == 3);
    CHECK((*d.session.cursor().cell)[3] == 1);
    CHECK(d.sees("position1"));
    CHECK(d.sees("selectthisposition"));
}

TEST_CASE("the model writes its target for another source, with one click and one undo") {
    Driver d("reverse");
    d.press(Key::i);
    d.press(Key::a, with_ctrl);
    d.hands.type("attention");
    d.settle();
    d.press(Key::escape);
    CHECK(d.state.part<InputBarState>().target.text == "redoced\nremrofsnart");  // the old one stays
    REQUIRE(d.click_text("letthemodelwriteit"));
    CHECK(d.state.part<InputBarState>().target.text == "noitnetta");
    CHECK(says_next(d, "<eos>"));
    d.press(Key::z, with_ctrl);
    CHECK(d.state.part<InputBarState>().target.text == "redoced\nremrofsnart");
    CHECK(d.state.part<InputBarState>().source.text == "attention");
    Driver continues("verses");
    CHECK_FALSE(continues.sees("letthemodelwriteit"));
}

TEST_CASE("a space is written in one way, wherever a token stands") {
    Driver d("verses");
    for (const char* tab : {"step", "generate"}) {
        INFO(tab);
        d.state.tab = tab;
        d.settle();
        CHECK_FALSE(find_text(in_bar(d), "·"));
        CHECK(d.find_on_stage("␣"));
    }
}

TEST_CASE("the input bar overlaps nothing at any offered size") {
    struct Size {
        ImVec2 window;
        float text;
    };
    for (const Size& size :
         {Size{{1024, 768}, 1.0F}, Size{{1280, 800}, 1.5F}, Size{{1920, 1080}, 2.0F}, Size{{3840, 2160}, 3.0F}}) {
        for (const char* model : {"reverse", "dates", "verses", "causal-lm-as-meant"}) {
            Driver d(model, size.text, size.window);
            const auto pieces = in_bar(d, size.text);
            CHECK_FALSE(pieces.empty());
            // However little room there is, it says what comes next: that first, then how to have it written.
            const auto says =
                std::ranges::any_of(pieces, [](const DrawnText& piece) { return piece.text.ends_with("%"); });
            CHECK(says == generate::predicts_tokens(d.session.scenario()));
            for (std::size_t a = 0; a < pieces.size(); ++a) {
                CHECK(pieces[a].high.x <= size.window.x);
                for (std::size_t b = a + 1; b < pieces.size(); ++b) {
                    const bool apart =
                        pieces[a].high.x <= pieces[b].low.x + 1 || pieces[b].high.x <= pieces[a].low.x + 1 ||
                        pieces[a].high.y <= pieces[b].low.y + 2 || pieces[b].high.y <= pieces[a].low.y + 2;
                    INFO(model << " at " << size.text << ": " << pieces[a].text << " and " << pieces[b].text);
                    CHECK(apart);
                }
            }
        }
    }
}
