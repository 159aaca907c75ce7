// The palette finds anything by its name.
#include "app/core/text/finding.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"

#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

using namespace decoderscope::testing;
using namespace decoderscope::views::dialogs;

namespace {

void find(Driver& d, std::string_view typed) {
    d.press(Key::p, with_ctrl);
    d.hands.type(typed);
    d.settle();
}

void take(Driver& d, std::string_view typed) {
    find(d, typed);
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
}

}  // namespace

TEST_CASE("a name itself comes first, then its beginning, a word's beginning, a part, and letters in order") {
    const std::vector<PaletteEntry> entries = {{.name = "b.l.o.c.k"},     {.name = "unblocked"}, {.name = "my block"},
                                               {.name = "blocks.0.attn"}, {.name = "Block"},     {.name = "mask"}};
    CHECK(best_matches(entries, "block") == std::vector<std::size_t>{4, 3, 2, 1, 0});
    CHECK(best_matches(entries, "zz").empty());
    const std::vector<PaletteEntry> chinese = {{.name = "打开掩码", .english = "Open masks"}, {.name = "关闭"}};
    CHECK(best_matches(chinese, "掩码") == std::vector<std::size_t>{0});
    CHECK(best_matches(chinese, "打码") == std::vector<std::size_t>{0});  // its letters in order
    CHECK(best_matches(chinese, "masks") == std::vector<std::size_t>{0});
    CHECK(best_matches(chinese, "关") == std::vector<std::size_t>{1});
    CHECK(best_matches(chinese, "\xE6").empty());  // a part of a character is none
    CHECK(core::match_score("blocks.0.attn.pattern", "attn") > core::match_score("an attenuation", "attn"));
}

TEST_CASE("a question is found by some of its words, first by the rarest, in the plural too") {
    const std::vector<PaletteEntry> entries = {
        {.name = "Which heads look at the previous token?", .words = "previous token attention head"},
        {.name = "How far back does each head look?", .words = "distance window attention head"},
        {.name = "Which neuron is dead?", .words = "dead silent neuron"}};
    CHECK(best_matches(entries, "attention distance") == std::vector<std::size_t>{1, 0});
    CHECK(best_matches(entries, "mean distance of heads") == std::vector<std::size_t>{1, 0});
    CHECK(best_matches(entries, "dead neurons") == std::vector<std::size_t>{2});
    CHECK(best_matches(entries, "operations").empty());
}

TEST_CASE("what is likely isn't like, and the words of a text are its tokens") {
    const std::vector<PaletteEntry> entries = {{.name = "What does it look like?", .words = "look like"},
                                               {.name = "Which token is likely?", .words = "likely token"}};
    CHECK(best_matches(entries, "likely") == std::vector<std::size_t>{1});
    CHECK(best_matches(entries, "which words") == std::vector<std::size_t>{1});
}

TEST_CASE("the palette goes to steps and weights, opens models, and changes settings and configuration") {
    Driver d("reverse");
    take(d, "blocks.1.mlp_out");
    CHECK(d.session.cursor().step == "blocks.1.mlp_out");
    take(d, "lm_head.weight");
    CHECK(d.session.cursor().step == "lm_head.weight");
    take(d, "theme: light");
    CHECK_FALSE(d.state.is_dark());
    take(d, "motion: reduced");
    CHECK(d.state.reduces_motion());
    take(d, "norm = rmsnorm");
    CHECK(d.session.scenario().config().norm == NormKind::rmsnorm);
    take(d, "causal-lm-as-meant");
    d.session.finish();
    d.settle();
    CHECK(d.session.scenario().about().name == "causal-lm-as-meant");
}

TEST_CASE("what is typed as a formula becomes a row, as it was typed") {
    Driver d("words");
    for (const char* formula : {"entropy(blocks.1.attn.pattern)", "blocks.0.attn.q @ blocks.0.attn.k.mT"}) {
        find(d, formula);
        d.press(Key::enter);
        CHECK(d.state.dialog == Dialog::formula);
        CHECK(d.state.part<FormulaEditorState>().draft.formula == formula);
        CHECK(d.state.part<FormulaEditorState>().draft.is_row);
        d.press(Key::escape);
    }
    take(d, "norm = rmsnorm");
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("a recently opened model is found by its path") {
    Driver d("reverse");
    d.state.settings.recent = {"/models/my-own-decoder"};
    find(d, "my-own");
    CHECK(d.sees("/models/my-own-decoder"));
    d.press(Key::enter);
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->name == "/models/my-own-decoder");
}

TEST_CASE("the palette stays on the screen, whatever it lists, and scrolls to what is chosen") {
    for (const Screen& screen : kScreens) {
        for (const char* typed : {"", "b", "blocks"}) {
            Driver d("reverse", screen.scale, screen.size);
            find(d, typed);
            INFO(typed << " at scale " << screen.scale);
            for (const auto& piece : d.seen()) CHECK((piece.high.y <= screen.size.y && piece.high.x <= screen.size.x));
            d.hands.tap(Key::up);  // from the first to the last
            d.settle();
            CHECK(d.state.part<PaletteState>().chosen + 1 == d.state.part<PaletteState>().found.size());
            const PaletteEntry& last = d.state.part<PaletteState>().entries[d.state.part<PaletteState>().found.back()];
            const std::string begin = last.name.substr(0, last.name.find(' '));
            CHECK(d.sees(begin));
        }
    }
}

TEST_CASE("nothing is searched again while nothing is typed") {
    Driver d("reverse");
    find(d, "blocks");
    d.state.part<PaletteState>().found.pop_back();  // stays so until something is typed
    const std::size_t found = d.state.part<PaletteState>().found.size();
    for (int i = 0; i < 3; ++i) d.settle();
    CHECK(d.state.part<PaletteState>().found.size() == found);
}

TEST_CASE("Esc closes a list before anything else") {
    Driver d("reverse");
    d.press(Key::c);
    REQUIRE(testing::compare_with(d, "Configuration"));
    REQUIRE(d.click_text("norm_first=false"));
    REQUIRE(d.sees("layer_norm_eps"));
    d.session.apply(command::SelectCell{Cell(d.session.step().axes.size(), 0)});
    d.press(Key::escape);
    CHECK_FALSE(d.sees("layer_norm_eps"));
    CHECK(d.session.cursor().cell);  // the next Esc deselects it
    d.press(Key::escape);
    CHECK_FALSE(d.session.cursor().cell);
    // The model's menu, too.
    REQUIRE(d.click_text("▾"));
    REQUIRE(d.sees("Ctrl+Shift+S"));
    d.press(Key::escape);
    CHECK_FALSE(d.sees("Ctrl+Shift+S"));
}

TEST_CASE("actions are found by the words that people use for them") {
    Driver d("verses");
    const std::vector<PaletteEntry> entries = palette_entries(d.session, d.state);
    // Whether it is among the first three that are found.
    const auto finds = [&](std::string_view typed, std::string_view label) {
        const std::vector<std::size_t> found = best_matches(entries, typed);
        return std::ranges::any_of(std::span(found).first(std::min<std::size_t>(found.size(), 3)),
                                   [&](std::size_t i) { return entries[i].english.starts_with(label); });
    };
    for (const auto& [typed, label] :
         {std::pair{"exercise", "Lessons"}, std::pair{"exercises", "Lessons"}, std::pair{"tutorial", "Lessons"},
          std::pair{"projector", "Presentation"}, std::pair{"beamer", "Presentation"},
          std::pair{"full screen", "Presentation"}, std::pair{"slides", "Presentation"},
          std::pair{"less random", "Generate"}, std::pair{"sampling", "Generate"}, std::pair{"pdf", "Export"},
          std::pair{"save picture", "Export"}, std::pair{"font", "Settings"}}) {
        INFO(typed);
        CHECK(finds(typed, label));
    }
}

TEST_CASE("questions that say the typed words come before those that only have them among theirs") {
    Driver d("reverse");
    const std::vector<PaletteEntry> entries = palette_entries(d.session, d.state);
    const auto first = [&](std::string_view typed) { return entries[best_matches(entries, typed).front()].english; };
    CHECK(first("logit bias") == "How much of the right answer's logit is bias?");
    CHECK(first("average heads") == "What do a layer's heads look at on average? (the mean of their patterns)");
    CHECK(first("rounding predictions") ==
          "Which predictions may flip by rounding? (1: the margin is less than twice the logits' error)");
}

TEST_CASE("rows that read the unembedding are found where it is the embedding") {
    Driver d("words");
    const std::vector<PaletteEntry> entries = palette_entries(d.session, d.state);
    const auto first = [&](std::string_view typed) { return entries[best_matches(entries, typed).front()].english; };
    CHECK(first("does a head copy").starts_with("Which head copies"));
    CHECK(first("which head looks at the first word").starts_with("How much attention goes to the first token?"));
    CHECK(first("second most likely word") == "What is the second guess at each position?");
    CHECK(first("where is it confident") == "Where is the model least sure?");
}

TEST_CASE("what does most is found by what leaving it out changes, and what takes time by Cost, in both languages") {
    Driver d("verses");
    const std::vector<PaletteEntry> entries = palette_entries(d.session, d.state);
    const auto first = [&](std::string_view typed) { return entries[best_matches(entries, typed).front()].english; };
    for (const char* typed :
         {"which layer does most", "which layer matters most", "most important layer",
          "what does each layer contribute", "effect of each layer", "哪一层最重要", "每一层的贡献"}) {
        INFO(typed);
        CHECK(first(typed) == "Without which layer do which predictions change?");
    }
    for (const char* typed : {"which head does most", "head ablation", "哪个头最重要"}) {
        INFO(typed);
        CHECK(first(typed) == "Without which head do which predictions change?");
    }
    CHECK(first("influence of each token") == "Leaving out which token changes which predictions?");
    CHECK(first("which neuron matters most") == "Without which neuron do which predictions change?");
    for (const char* typed : {"which layer costs most", "which layer is slowest", "which head takes longest", "flops",
                              "where is the time spent", "哪一层最慢"}) {
        INFO(typed);
        CHECK(first(typed).starts_with("Ask, Cost"));
    }
}
