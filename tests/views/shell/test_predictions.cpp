// What the model answers, on the first screen: predictions under the tokens, chips that select, and targets that the
// model writes.
#include "app/core/generate/prediction.h"
#include "app/core/text/numbers.h"
#include "app/views/input/input_bar.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/letter_models.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views::input;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

void type_target(Driver& d, const char* text) {
    d.session.apply(command::TypeInput{{.target = Typed{.text = text}}});
    d.session.finish();
    d.settle();
}

// The text below the toolbar and above the stage's tabs.
std::vector<DrawnText> in_bar(const Driver& d, float scale = 1.0F) {
    std::vector<DrawnText> found;
    const float end = d.stage().low.y;
    for (const DrawnText& piece : d.seen())
        if (piece.low.y > 44 * scale && piece.high.y < end) found.push_back(piece);
    return found;
}

// Whether a line of the bar says this: chips stand apart, so what is below each is a piece of its own.
bool answers(const Driver& d, const std::string& wanted) {
    std::vector<DrawnText> pieces = in_bar(d);
    std::ranges::sort(pieces, {}, [](const DrawnText& piece) { return piece.low.x; });
    return std::ranges::any_of(pieces, [&](const DrawnText& first) {
        std::string line;
        for (const DrawnText& piece : pieces)
            if (std::abs(piece.middle().y - first.middle().y) < 6.0F) line += piece.text;
        return line.find(wanted) != std::string::npos;
    });
}

// The position of a chip, beside its token.
bool is_position(const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; }

// The middle of a chip of the target: its rows begin with the two rightmost beginning tokens.
ImVec2 chip_of_target(const Driver& d, std::size_t row, std::size_t position) {
    std::vector<DrawnText> begins;
    for (const DrawnText& piece : in_bar(d))
        if (piece.text.starts_with("<bos>") && piece.low.x > 640) begins.push_back(piece);
    std::sort(begins.begin(), begins.end(), [](const auto& a, const auto& b) { return a.low.y < b.low.y; });
    REQUIRE(begins.size() > row);
    const DrawnText& begin = begins[row];
    std::vector<DrawnText> line;
    for (const DrawnText& piece : in_bar(d))
        if (std::abs(piece.middle().y - begin.middle().y) < 4 && piece.low.x > begin.high.x && !is_position(piece.text))
            line.push_back(piece);
    std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) { return a.low.x < b.low.x; });
    // The first letters may be one piece with the beginning token.
    const std::size_t joined = begin.text.size() - std::string("<bos>").size();
    REQUIRE(position > joined);
    REQUIRE(line.size() >= position - joined);
    return line[position - joined - 1].middle();
}

}  // namespace

TEST_CASE("the default screen says what the model answers, and whether it is right") {
    Driver d(kDefaultModel);
    CHECK(answers(d, "✓e✓d✓o✓c✓e✓d<eos>"));
    CHECK(answers(d, "✓e✓m✓r✓o✓f✓s✓n✓a✓r✓t"));
    CHECK(d.sees("✓18/18"));
    type_target(d, "redxced");
    CHECK(answers(d, "✓e✓d✗o"));
}

TEST_CASE("a prediction under the mouse tells the probabilities of the run") {
    Driver d("verses");
    std::string bar;
    for (const DrawnText& piece : in_bar(d)) bar += piece.text + "|";
    INFO(bar);
    const auto predicted = find_text(d.seen(), "✓n");  // under "And"
    REQUIRE(predicted);
    d.point(predicted->middle_of("n"));
    CHECK(d.sees("afterposition1themodelpredicts"));
    const Tensor& probs = d.session.shown().run->value("probs");
    const Index token = d.session.scenario().tokenizer().encode("n").back();
    CHECK(d.sees("“n”"));
    CHECK(d.sees(short_number_text(static_cast<double>(probs.at(Cell{0, 1, token})), 4)));
    CHECK(d.sees("✓right:“n”follows"));
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
    Driver d(kDefaultModel);
    d.press(Key::end);
    REQUIRE(d.session.cursor().step == "probs");
    CHECK(d.find_on_stage("q"));  // a letter that stands in no other text there
    CHECK_FALSE(d.find_on_stage("28"));
}

TEST_CASE("a click on a chip selects its position on the stage, in its row of the batch") {
    Driver d(kDefaultModel);
    REQUIRE(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    d.click(chip_of_target(d, 1, 3));  // <bos> r e m
    REQUIRE(d.session.cursor().cell);
    CHECK((*d.session.cursor().cell)[0] == 1);
    CHECK((*d.session.cursor().cell)[2] == 3);
    CHECK(d.session.cursor().place.batch == 1);
    const auto source = find_text(d.seen(), "<bos>transformer");
    REQUIRE(source);
    d.click(source->middle_of("t"));
    CHECK((*d.session.cursor().cell)[2] == 3);
    CHECK((*d.session.cursor().cell)[3] == 1);
    d.point(source->middle_of("t"));
    CHECK(d.sees("position1"));
    CHECK(d.sees("selectthisposition"));
}

TEST_CASE("the model writes its target for another source, with one click and one undo") {
    Driver d(kDefaultModel);
    d.press(Key::i);
    d.press(Key::a, with_ctrl);
    d.hands.type("attention");
    d.settle();
    d.press(Key::escape);
    CHECK(d.state.part<InputBarState>().target.text == "redoced\nremrofsnart");  // the old one stays
    CHECK(d.sees("✗"));
    REQUIRE(d.click_text("letthemodelwriteit"));
    CHECK(d.state.part<InputBarState>().target.text == "noitnetta");
    CHECK(answers(d, "✓o✓i✓t✓n✓e✓t✓t✓a<eos>"));
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
        CHECK(find_text(in_bar(d), "␣"));
        CHECK_FALSE(find_text(in_bar(d), "·"));
        CHECK(d.find_on_stage("␣"));
    }
}

TEST_CASE("what is left out of a long text is counted, and a click on the count goes there") {
    Driver d("verses");
    d.session.apply(command::TypeInput{{.target = Typed{.text = std::string(100, 'a')}}});
    d.session.finish();
    d.settle();
    const auto more = find_text(in_bar(d), "more");
    REQUIRE(more);
    d.click(more->middle_of("more"));
    CHECK(d.state.part<InputBarState>().target.first_chip > 0);
    CHECK(find_text(in_bar(d), "more…"));
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
