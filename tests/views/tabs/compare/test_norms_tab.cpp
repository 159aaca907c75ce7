// The commands that gestures in the Norms tab give, and what is then shown.
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::norms;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::compare;

namespace {

// Clicks on text of the stage: on a whole piece if there is one, otherwise on part of one.
bool click_on_stage(Driver& d, std::string_view part, bool last = false) {
    const DrawnText* found = nullptr;
    const auto look = [&](auto fits) {
        for (const DrawnText& piece : d.seen()) {
            if (d.on_stage(piece) && fits(piece.text) && (found == nullptr || last)) found = &piece;
        }
    };
    look([&](const std::string& text) { return text == part; });
    if (found == nullptr) look([&](const std::string& text) { return text.find(part) != std::string::npos; });
    if (found == nullptr) return false;
    const ImVec2 at = found->middle_of(part);
    d.click(at);
    return true;
}

}  // namespace

TEST_CASE("the Norms tab asks for both runs and shows both diagrams and the curves") {
    Driver d;
    open_tab(d, Key::n, "compare");
    const auto& companions = d.session.shown().companions;
    REQUIRE(companions.contains("norms.left"));
    REQUIRE(companions.contains("norms.right"));
    CHECK(companions.at("norms.left").scenario.config().norm_first);
    CHECK_FALSE(companions.at("norms.right").scenario.config().norm_first);
    CHECK(d.sees("norm(x+f(x))"));
    CHECK(d.sees("x+f(norm(x))"));
    CHECK(d.sees("Lengthofthestream"));
    CHECK(d.sees("Wheretherunspart"));
    CHECK(d.sees("over5blocks"));
    d.forget();
    for (int i = 0; i < 3; ++i) d.settle();
    CHECK(d.commands.empty());
}

TEST_CASE("beside two runs stands what each of them says next") {
    Driver d("words");
    open_tab(d, Key::n, "compare");
    CHECK(d.sees("Theanswerchanges"));
    const auto beside = [&](std::string_view letter, std::string_view word) {
        return std::ranges::any_of(d.seen(), [&](const DrawnText& label) {
            return label.text.starts_with(letter) && !d.on_stage(label) &&
                   std::ranges::any_of(d.seen(), [&](const DrawnText& piece) {
                       return piece.text.find(word) != std::string::npos &&
                              std::abs(piece.low.y - label.low.y) < 8.0F && piece.high.x > label.high.x;
                   });
        });
    };
    CHECK(beside("A", "Moses"));
    CHECK(beside("B", "the"));
}

TEST_CASE("leaving the tab drops both runs") {
    Driver d;
    open_tab(d, Key::n, "compare");
    d.press(Key::s);
    CHECK(d.session.shown().companions.empty());
    d.forget();
    d.settle();
    CHECK(d.commands.empty());
    open_tab(d, Key::n, "compare");
    CHECK(d.session.shown().companions.size() == 2);
}

TEST_CASE("depth is raised on the spot, and the model stays what it is") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Changethenorm"));
    REQUIRE(click_last(d, "36"));
    REQUIRE(d.last<command::RequestAuxRun>());
    REQUIRE(d.last<command::RequestAuxRun>()->variation);
    CHECK(d.last<command::RequestAuxRun>()->variation->layers == 36);
    CHECK(d.session.shown().companion("norms.left")->run->plan().find("blocks.35.resid_post") != nullptr);
    CHECK(d.session.shown().run->plan().find("blocks.5.resid_post") == nullptr);
    CHECK(d.sees("over36blocks"));
    REQUIRE(click_last(d, "5"));
    CHECK_FALSE(d.last<command::RequestAuxRun>()->variation->layers);
    CHECK(d.sees("over5blocks"));
    CHECK_FALSE(d.session.can_undo());
}

TEST_CASE("RMSNorm and eps are options of the model, undone like any other") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Changethenorm"));
    REQUIRE(click_last(d, "RMSNorm"));
    REQUIRE(d.last<command::SetOption>());
    CHECK(d.last<command::SetOption>()->key == "norm");
    CHECK(d.last<command::SetOption>()->value == "rmsnorm");
    CHECK(d.session.shown().companion("norms.left")->scenario.config().norm == NormKind::rmsnorm);
    const auto eps = std::ranges::find(d.seen(), "eps", &DrawnText::text);
    REQUIRE(eps != d.seen().end());
    const float line = eps->middle().y;
    const auto value = std::ranges::find_if(d.seen(), [&](const DrawnText& piece) {
        return piece.text.find("0.01") != std::string::npos && std::abs(piece.middle().y - line) < 6.0F;
    });
    REQUIRE(value != d.seen().end());
    d.click(value->middle_of("0.01"));
    d.settle();
    CHECK(d.last<command::SetOption>()->key == "layer_norm_eps");
    CHECK(d.session.scenario().config().layer_norm_eps == 0.01);
    d.click({2, 2});  // the list is open
    d.hands.tap(Key::z, with_ctrl);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().config().norm == NormKind::layernorm);
}

TEST_CASE("two eps that differ in their last digits are two choices, and the model's own can be chosen back") {
    Driver d("reverse");
    d.session.apply(command::SetOption{"layer_norm_eps", "9.99999974738e-06"});
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Changethenorm"));
    CHECK(d.sees("9.9999997e-6"));
    REQUIRE(d.click_text("1e-5"));
    d.settle();
    CHECK(d.session.scenario().config().layer_norm_eps == d.session.scenario().model()->config().layer_norm_eps);
}

TEST_CASE("gains and shifts of all norms are scaled in both runs, and the model keeps its own") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Changethenorm"));
    REQUIRE(click_last(d, "½"));
    REQUIRE(d.last<command::RequestAuxRun>());
    CHECK(d.last<command::RequestAuxRun>()->variation->gain_factor == 0.5F);
    CHECK(d.session.shown().companion("norms.right")->run->value("layers.4.norm2.weight").data()[0] == 0.5F);
    CHECK(d.session.shown().run->value("layers.4.norm2.weight").data()[0] == 1.0F);
    CHECK(depth_curves(*d.state.part<CompareTabState>().runs->right.run, StackKind::decoder).growth() < 0.6);
}

TEST_CASE("a part of either diagram leads to its step, which is lit in both") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(click_on_stage(d, "MLP"));
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step == "blocks.0.mlp_out");
    // The sum lies on the stream, between the boxes of what it adds and of what reads it next.
    const auto attention = d.find_on_stage("Attention"), mlp = d.find_on_stage("MLP");
    REQUIRE((attention && mlp));
    const float between = attention->middle().x + (mlp->middle().x - attention->middle().x) * 0.29F;
    d.click({between, attention->middle().y + 38});
    CHECK(d.last<command::GoTo>()->step == "blocks.0.resid_mid");
    REQUIRE(click_on_stage(d, "norm", true));
    CHECK(d.last<command::GoTo>()->step == "blocks.0.ln2.normalized");
}

TEST_CASE("pointing at a curve says the numbers, and a click goes there") {
    Driver d;
    open_tab(d, Key::n, "compare");
    std::optional<DrawnText> title;
    for (const DrawnText& piece : d.seen())
        if (piece.text == "Lengthofthestream" && d.on_stage(piece)) title = piece;
    REQUIRE(title);
    const ImVec2 at = {title->low.x + 100, title->high.y + 60};
    d.point(at);
    CHECK(d.sees("Post-Normblocks."));
    CHECK(d.sees("Clicktogothere"));
    d.click(at);
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step.find("resid") != std::string::npos);
    CHECK(d.session.cursor().step == d.last<command::GoTo>()->step);
}

TEST_CASE("the same step stands there three times, and its cells are explained") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Stepbystep"));
    CHECK(d.sees("tensorsdiffer"));
    const ImVec2 at = d.heatmap(d.session.step().name, "Pre-Norm").middle(0, 0);
    d.click(at);
    REQUIRE(d.last<command::SelectCell>());
    CHECK(d.last<command::SelectCell>()->cell.size() == 4);
    d.apply(command::GoTo{"blocks.0.resid_pre"});
    CHECK(d.sees("equalbitforbit"));
}

TEST_CASE("one row of a norm explains itself: numbers, another row, another norm, its gain") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 1000});
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Onerow"));
    for (const char* text :
         {"variance", "scale", "gain", "shift", "meanafter", "subtractsthemean", "ln1(resid_pre)", "ln1(resid_mid)"}) {
        INFO(text);
        CHECK(d.sees(text));
    }
    REQUIRE(click_on_stage(d, "ln2"));
    CHECK(d.last<command::GoTo>()->step == "blocks.0.ln2.normalized");
    CHECK(d.sees("ln2(resid_mid)"));
    // A copy, as each frame makes a new list.
    std::optional<DrawnText> row;
    for (const DrawnText& piece : d.seen())
        if (piece.text == "row" && d.on_stage(piece)) row = piece;
    REQUIRE(row);
    for (float x = row->high.x; x < row->high.x + 80 && d.state.part<CompareTabState>().row == 0; x += 8) {
        d.click({x, row->middle().y});
    }
    CHECK(d.state.part<CompareTabState>().row == 1);
    REQUIRE(click_on_stage(d, "all1"));
    REQUIRE(d.last<command::Follow>());
    CHECK(d.last<command::Follow>()->step == "layers.0.norm2.weight");
    CHECK(d.sees("ln2(resid_mid)"));  // still at that norm
    REQUIRE(d.click_text("Changethenorm"));
    REQUIRE(click_last(d, "RMSNorm"));
    CHECK(d.sees("meansquare"));
    CHECK(d.sees("none"));
}

TEST_CASE("a click on a bar leads to that number") {
    Driver d;
    open_tab(d, Key::n, "compare");
    REQUIRE(d.click_text("Onerow"));
    const auto header = find_text(d.seen(), "ln1(resid_pre)");
    REQUIRE(header);
    d.click({header->low.x + 20, header->high.y + 30});
    REQUIRE(d.last<command::Follow>());
    CHECK(d.last<command::Follow>()->step == "blocks.0.resid_pre");
    CHECK(d.last<command::Follow>()->cell.size() == 3);
}

TEST_CASE("every view outlives another model, dropout, an edit and their undoing") {
    for (const View view : {View::depth, View::step, View::row}) {
        Driver d;
        open_tab(d, Key::n, "compare");
        d.state.part<CompareTabState>().norms.view = view;
        d.settle();
        d.apply(command::OpenModel{"pre-ln-encdec"});
        CHECK(d.sees("Cross-attention"));
        d.apply(command::GoTo{"blocks.3.ln3.normalized"});
        d.session.apply(command::SetDropout{1});
        d.apply(command::PaintMask{"blocks.0.attn", 0, 0, 0, 0, false});
        for (int i = 0; i < 4; ++i) {
            d.press(Key::z, with_ctrl);
        }
        CHECK(d.session.scenario().about().name == "causal-lm-as-meant");
        CHECK(d.session.shown().companion("norms.left") != nullptr);
        CHECK_FALSE(d.sees("Cross-attention"));
    }
}

TEST_CASE("a row with everything masked is reported") {
    Driver d;
    d.session.apply(command::PaintMask{"blocks.0.attn", 0, std::nullopt, 0, 0, false});
    open_tab(d, Key::n, "compare");
    CHECK(d.sees("notfinite"));
    REQUIRE(d.click_text("Onerow"));
    d.apply(command::GoTo{"blocks.1.ln1.normalized"});
    CHECK(d.sees("NaN"));
}

TEST_CASE("in every view of the Norms tab, text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : testing::looked_at(bundled_models(), 4)) {
            Driver d(model.name, screen.scale, screen.size);
            open_tab(d, Key::n, "compare");
            for (const View view : {View::depth, View::step, View::row}) {
                d.state.part<CompareTabState>().norms.view = view;
                for (const char* step : {"blocks.0.attn.pattern", "blocks.0.ln1.normalized", "blocks.0.mlp_out",
                                         "blocks.0.ln1.scale", "encoder.blocks.0.attn_out", "logits"}) {
                    d.apply(command::GoTo{step});
                    INFO(model.name << " " << step << " view " << static_cast<int>(view) << " at scale "
                                    << screen.scale);
                    check_layout(d, screen.size);
                }
            }
        }
    }
}

TEST_CASE("the page of gradients measures stacks of its own, and says what is held against it") {
    Driver d("induction");
    open_tab(d, Key::n, "compare");
    NormsState& norms = d.state.part<CompareTabState>().norms;
    norms.growth = {.layers = 2, .d_model = 16, .seeds = 1};
    REQUIRE(click_on_stage(d, "Gradients"));
    d.settle();
    CHECK(d.sees("Beforeanytraining"));
    CHECK(d.sees("Admin"));
    CHECK(d.sees("B2T"));
    CHECK(d.sees("DeepNorm"));
    CHECK(d.sees("encoder:last/first"));
    const auto measured = measured_growth(d.session.derived(), d.session.scenario().model(), norms.growth,
                                          Depths::chosen, norms.growth_progress);
    REQUIRE(measured);
    CHECK(measured->schemes.size() == stack_schemes().size());
    CHECK(norms.growth_progress->done == stack_schemes().size());

    REQUIRE(click_on_stage(d, "decoderalone"));
    d.settle();
    CHECK_FALSE(norms.growth.encoder);
    CHECK_FALSE(d.sees("encoder:last/first"));
    REQUIRE(click_on_stage(d, "PyTorch"));
    d.settle();
    CHECK(d.sees("hidesit"));
    norms.growth_stopped = true;
    d.settle();
    REQUIRE(click_on_stage(d, "Measure"));
    CHECK_FALSE(norms.growth_stopped);
}

TEST_CASE("of several seeds the first is shown as soon as it is measured, as what it is", "[long]") {
    Driver d("induction");
    NormsState& norms = d.state.part<CompareTabState>().norms;
    norms.growth = {.layers = 6, .d_model = 32, .seeds = 3};
    norms.view = View::gradients;
    d.state.tab = "norms";
    std::vector<Index> shown;
    for (int frame = 0; frame < 20 && (shown.empty() || shown.back() != 3); ++frame) {
        d.settle_one();
        if (norms.grown && (shown.empty() || shown.back() != norms.grown.question().seeds)) {
            shown.push_back(norms.grown.question().seeds);
            CHECK(norms.grown.stale() == (shown.back() == 1));
            CHECK(norms.grown.answer()->schemes.size() == stack_schemes().size());
        }
    }
    CHECK(shown == std::vector<Index>{1, 3});
}

TEST_CASE("what the page of gradients measures is saved and restored") {
    Driver d("induction");
    NormsState& norms = d.state.part<CompareTabState>().norms;
    norms.view = View::gradients;
    norms.growth = {.layers = 12, .d_model = 32, .seeds = 10, .encoder = false, .xavier = false};
    const SavedView saved = saved_view(d.state);
    norms = {};
    static_cast<void>(show_saved(d.state, saved));
    CHECK(norms.view == View::gradients);
    CHECK(norms.growth == GrowthChoice{.layers = 12, .d_model = 32, .seeds = 10, .encoder = false, .xavier = false});
}

TEST_CASE("the page of gradients fits the window at every size") {
    for (const Screen& screen : kScreens) {
        Driver d("induction", screen.scale, screen.size);
        d.state.part<CompareTabState>().norms.growth = {.layers = 2, .d_model = 16, .seeds = 1};
        d.state.part<CompareTabState>().norms.view = View::gradients;
        open_tab(d, Key::n, "compare");
        check_layout(d, screen.size);
    }
}

TEST_CASE("below the steps' bars a block has its name, its number, or nothing: no part of either") {
    Driver d("verses");
    open_tab(d, Key::n, "compare");
    d.state.part<CompareTabState>().norms.layers = 36;
    d.state.part<CompareTabState>().norms.view = View::step;
    d.settle();
    for (int i = 0; i < 50 && d.session.stale(); ++i) d.settle();
    CHECK_FALSE(d.find_on_stage("b…"));
    CHECK(d.find_on_stage("17"));
    CHECK(d.find_on_stage("35"));
}
