// The Masks tab: the commands that gestures give, and what is then shown.
#include "app/views/tabs/masks/tab.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::views::masks;

namespace {

// The middle of a cell of the picture with that title.
ImVec2 cell_of(const Driver& d, const std::string& title, int query, int key) {
    return d.heatmap(shown_attention(d.session) + ".mask", title).middle(query, key);
}

}  // namespace

TEST_CASE("the tab shows the masks apart, the chain, the fill's consequences and the measured leak") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 1000});
    open_tab(d, Key::m, "masks");
    for (const char* text :
         {"causal", "padding", "nonedrawn", "combined", "rawscores", "maskedscores", "pattern", "outputz"}) {
        INFO(text);
        CHECK(d.sees(text));
    }
    CHECK(d.sees("6of16cellsmasked;theirweightis0"));
    CHECK(d.sees("Everyqueryseesatleastonekey"));
    CHECK(d.sees("earlierpositionsmovedbyatmost0"));
    CHECK(d.sees("(measuredover98"));
    REQUIRE(d.last<command::RequestAuxRun>());
    d.forget();
    d.settle();
    CHECK(d.commands.empty());  // it was requested once
}

TEST_CASE("a drag of the left button paints, in one undo step") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 1400});
    open_tab(d, Key::m, "masks");
    const ImVec2 from = cell_of(d, "maskedscores", 2, 0), to = cell_of(d, "maskedscores", 3, 0);
    d.hands.drag(from.x, from.y, to.x, to.y);
    d.settle();
    REQUIRE(d.last<command::PaintMasks>());
    CHECK(d.last<command::PaintMasks>()->stroke.attention == "blocks.0.attn");
    CHECK(d.last<command::PaintMasks>()->stroke.head == Index{0});
    CHECK(d.last<command::PaintMasks>()->stroke.keep == false);
    CHECK(d.last<command::PaintMasks>()->continues);
    const Tensor& mask = d.session.shown().run->value("blocks.0.attn.mask");
    CHECK(mask.at(Cell{0, 0, 2, 0}) == 0.0F);
    CHECK(mask.at(Cell{0, 0, 3, 0}) == 0.0F);
    CHECK(mask.at(Cell{0, 1, 2, 0}) == 1.0F);
    CHECK(d.sees("8of16cellsmasked"));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
    CHECK_FALSE(d.session.can_undo());
}

TEST_CASE("Row hides a query's keys: NaN is named and followed; a finite fill makes the row uniform") {
    Driver d;
    open_tab(d, Key::m, "masks");
    REQUIRE(d.click_text("Row"));
    d.click(cell_of(d, "combined", 2, 1));
    REQUIRE(d.last<command::PaintMasks>());
    CHECK(d.last<command::PaintMasks>()->stroke.cells.size() == 4);
    CHECK(d.sees("Query2seesnokey:0/0=NaN"));
    CHECK(d.sees("blocks.0.attn.pattern[0,0,2,0]"));
    CHECK(d.sees("thenattn.z8of768"));
    CHECK(d.sees("wherenochange"));
    REQUIRE(d.click_text("−1e9"));
    REQUIRE(d.last<command::SetOption>());
    CHECK(d.last<command::SetOption>()->key == "mask_value");
    CHECK(d.last<command::SetOption>()->value == "-1e9");
    CHECK(d.sees("Query2seesnokey:eachweighs0.25"));
    CHECK(d.sees("earlierpositionsmoved,"));  // equal weights include later keys
    REQUIRE(d.click_text("−∞"));
    REQUIRE(d.click_text("blocks.0.attn.pattern[0,0,2,0]"));
    REQUIRE(d.last<command::Follow>());
    CHECK(d.last<command::Follow>()->cell == Cell{0, 0, 2, 0});
    // The same click again resets the row.
    d.click(cell_of(d, "combined", 2, 1));
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("a sliding window is one command and Reset takes it back, for every head where asked") {
    Driver d;
    open_tab(d, Key::m, "masks");
    REQUIRE(d.click_text("Allheads"));
    REQUIRE(d.click_text("Window2"));
    REQUIRE(d.last<command::PaintMasks>());
    CHECK(d.last<command::PaintMasks>()->instead);
    CHECK_FALSE(d.last<command::PaintMasks>()->stroke.head);
    CHECK(d.session.shown().run->value("blocks.0.attn.mask").at(Cell{0, 7, 3, 0}) == 0.0F);
    CHECK(d.session.shown().run->value("blocks.0.attn.mask").at(Cell{0, 7, 3, 2}) == 1.0F);
    REQUIRE(d.click_text("Reset"));
    REQUIRE(d.last<command::ResetMask>());
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("a hole in the causal mask is measured, and a row of the leak test chooses what is changed") {
    Driver d("causal-lm-as-meant", 1.0F, {1280, 1400});
    open_tab(d, Key::m, "masks");
    d.click(cell_of(d, "pattern", 0, 3));
    REQUIRE(d.last<command::PaintMasks>());
    CHECK(d.last<command::PaintMasks>()->stroke.keep == true);
    CHECK(d.sees("Itleaks."));
    CHECK(d.sees("3of3earlierpositionsmoved"));
    CHECK(d.sees("waschangedinturn."));
    // Nothing comes before the first position.
    d.click(cell_of(d, "leaktest", 0, 1));
    CHECK(d.state.part<MasksTabState>().leak_position == 0);
    CHECK(d.sees("nothingcomesbeforeit"));
}

TEST_CASE("a length handle drags a batch row's padding, one undo a drag") {
    Driver d;
    open_tab(d, Key::m, "masks");
    const auto heading = find_text(d.seen(), "paddingbybatchrow");
    REQUIRE(heading);
    // Row 0 is full: from its right end to the middle of its four positions.
    const float y = heading->low.y + 30, left = heading->low.x + 20, right = 913;
    d.hands.drag(right - 1, y, (left + right) * 0.5F, y);
    d.settle();
    REQUIRE(d.last<command::SetKeptLength>());
    CHECK_FALSE(d.last<command::SetKeptLength>()->source);
    CHECK(d.last<command::SetKeptLength>()->batch == 0);
    CHECK(d.last<command::SetKeptLength>()->length == 2);
    CHECK(d.session.shown().run->value("blocks.0.attn.mask").at(Cell{0, 0, 3, 2}) == 0.0F);
    CHECK(d.session.shown().run->value("blocks.0.attn.mask").at(Cell{0, 0, 3, 1}) == 1.0F);
    d.session.apply(command::Undo{});
    d.session.finish();
    CHECK_FALSE(d.session.can_undo());
}

TEST_CASE("cross-attention and the encoder are a click away, where there are any") {
    Driver d("post-ln-encdec");
    open_tab(d, Key::m, "masks");
    REQUIRE(d.click_text("Cross"));
    CHECK(d.session.cursor().step == "blocks.0.cross_attn.pattern");
    CHECK(d.sees("notcausal"));
    REQUIRE(d.click_text("Encoder"));
    CHECK(d.session.cursor().step == "encoder.blocks.0.attn.pattern");
    Driver plain;
    open_tab(plain, Key::m, "masks");
    CHECK_FALSE(plain.find_on_stage("Cross"));
    CHECK_FALSE(plain.find_on_stage("Self"));
}

TEST_CASE("on every model, with and without NaN, the tab's text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : testing::looked_at(bundled_models(), 4)) {
            Driver d(model.name, screen.scale, screen.size);
            open_tab(d, Key::m, "masks");
            for (const char* kind : {"Self", "Cross", "Encoder"}) {
                INFO(model.name << " " << kind << " at scale " << screen.scale);
                d.click_text(kind);
                d.point({2, 2});
                check_layout(d, screen.size);
                const std::string attention = shown_attention(d.session);
                d.session.apply(command::PaintMasks{
                    {attention, 0, std::nullopt,
                     cells_of_row(1, d.session.shown().run->value(attention + ".mask").dim(3)), false}});
                d.apply(command::SetOption{"mask_value", "-inf"});
                check_layout(d, screen.size);
                // In a low window the findings are below the pictures.
                d.hands.push(MouseMove{d.stage().low.x + 19.0F * screen.scale, screen.size.y * 0.6F});
                for (int i = 0; i < 40; ++i) d.hands.push(Wheel{0, -5});
                d.point({2, 2});
                for (int i = 0; i < 20 && !d.sees("firstNaN"); ++i) {  // above the leak test
                    d.hands.push(MouseMove{d.stage().low.x + 19.0F * screen.scale, screen.size.y * 0.6F});
                    d.hands.push(Wheel{0, 0.5F});
                    d.point({2, 2});
                }
                CHECK(d.sees("firstNaN"));
                check_layout(d, screen.size);
                d.session.apply(command::Undo{});
                d.session.apply(command::Undo{});
                d.session.finish();
            }
        }
    }
}

TEST_CASE("the leak test is exported as it is shown") {
    Driver d("verses");
    open_tab(d, Key::m, "masks");
    const std::vector<ExportChoice> choices = export_choices(d.session, d.state);
    const auto leak = std::ranges::find_if(
        choices, [](const ExportChoice& choice) { return choice.file_name.ends_with("leak_test"); });
    REQUIRE(leak != choices.end());
    const Exhibit exhibit = leak->in_english();
    REQUIRE(exhibit.panels.size() == 1);
    const Heatmap heatmap = exhibit.panels.front().heatmap();
    const Index length = d.session.shown().scenario.inputs.pos();
    CHECK(heatmap.rows == length);
    CHECK(heatmap.columns == length);
    CHECK(heatmap.row_axis == "changed");
    CHECK(heatmap.at(length - 1, 0) == 0.0F);
    CHECK(heatmap.at(1, length - 1) > 0.0F);
}

// A model with a soft cap in the window: the tabs draw steps that no view was written for.

TEST_CASE("a capped model is drawn, its map lists the capped scores, and its leak test is clean") {
    for (const Screen& screen : kScreens) {
        Driver d(load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/soft-caps"), screen.scale, screen.size);
        d.settle();
        d.session.apply(command::GoTo{"blocks.0.attn.capped_scores"});
        for (int i = 0; i < 3; ++i) d.settle();
        CHECK(d.sees("attn.capped_scores"));
        CHECK(d.sees("softcap"));
        check_layout(d, screen.size);
        d.hands.tap(Key::m);
        for (int i = 0; i < 3; ++i) d.settle();
        REQUIRE(d.state.tab == "masks");
        check_layout(d, screen.size);
        const Area stage = d.stage();
        d.point({stage.low.x + 19.0F * screen.scale, (stage.low.y + stage.high.y) * 0.5F});
        for (const char* title : {"rawscores", "maskedscores"}) {
            for (int i = 0; i < 60 && !d.sees(title); ++i) {
                d.hands.push(Wheel{0, -0.5F});
                d.settle();
            }
            CHECK(d.sees(title));
        }
        check_layout(d, screen.size);
    }
}

// The sliding window in the Masks tab: a picture of its own between the causal mask and the padding.

namespace {

std::shared_ptr<const Model> mistral_like() {
    return load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/mistral-like");
}

}  // namespace

TEST_CASE("the window is shown beside the other masks where a layer has one, and nowhere else") {
    Driver d(mistral_like(), 1.0F, {1280, 1000});
    open_tab(d, Key::m, "masks");
    const auto causal = d.find_on_stage("causal"), window = d.find_on_stage("slidingwin"),
               combined = d.find_on_stage("combined");
    REQUIRE(causal);
    REQUIRE(window);
    REQUIRE(combined);
    CHECK(causal->low.x < window->low.x);
    CHECK(combined->low.y < causal->low.y);
    // The row of position 3: position 0 is too far back.
    const auto drawn = d.heatmap("blocks.0.attn.mask", "slidingwin");
    for (int key = 0; key < 6; ++key) CHECK(drawn.number(3, key) == (key == 0 ? "0" : "1"));
    d.apply(command::SetOption{"sliding_window", "0"});
    CHECK_FALSE(d.find_on_stage("slidingwin"));
}

TEST_CASE("five masks fit beside one another") {
    for (const Screen& screen : kScreens) {
        Driver d(mistral_like(), screen.scale, screen.size);
        open_tab(d, Key::m, "masks");
        check_layout(d, screen.size);
    }
}

// The Masks tab's pictures are laid out by their cells, so that each cell can be painted.

namespace {

constexpr const char* kMask = "blocks.1.cross_attn.mask";

// Scrolls the pictures until this one's title is at the top.
void scroll_to(Driver& d, std::string_view title) {
    const Area stage = d.stage();
    d.point({(stage.low.x + stage.high.x) * 0.5F, stage.low.y + 200.0F});
    for (int i = 0; i < 60; ++i) {
        const auto found = d.find_on_stage(title);
        if (found && found->low.y < stage.low.y + 120.0F) return;
        d.hands.push(Wheel{0, -0.5F});
        d.settle();
    }
}

}  // namespace

TEST_CASE("each of the pictures has cells of at least 16 pixels, and scrolls into sight") {
    Driver d("reverse", 1.0F, {1280, 900});
    d.press(Key::m);
    for (const char* title : {"combined", "rawscores", "maskedscores", "pattern"}) {
        scroll_to(d, title);
        INFO(title);
        const DrawnHeatmap drawn = d.heatmap(kMask, title);
        CHECK(drawn.cell_size().x >= 15.9F);
        CHECK(drawn.cell_size().y >= 15.9F);
    }
    // The findings stay.
    CHECK(d.sees("48of144cellsmasked"));
}

TEST_CASE("a click paints the very cell that it hits, up to its edges") {
    Driver d("reverse");
    d.press(Key::m);
    const Area box = d.heatmap(kMask, "combined").cell(5, 3);
    for (const ImVec2 at : {ImVec2{box.low.x + 2, box.low.y + 2}, ImVec2{box.high.x - 2, box.high.y - 2}}) {
        d.click(at);
        const Tensor& mask = d.session.shown().run->value(kMask);
        for (Index query = 0; query < 12; ++query)
            for (Index key = 0; key < 8; ++key)
                CHECK((mask.at(Cell{0, 3, query, key}) == 0.0F) == (query == 5 && key == 3));
        CHECK(d.sees("49of144cellsmasked"));
        d.press(Key::z, with_ctrl);
    }
}

TEST_CASE("the wheel scrolls the pictures, and zooms with Ctrl") {
    Driver d("reverse", 1.0F, {1280, 1080});
    d.press(Key::m);
    const DrawnHeatmap before = d.heatmap(kMask, "combined");
    const float scores = d.find_on_stage("rawscores")->low.y;
    d.point(before.middle(5, 3));
    d.hands.push(Wheel{0, -1});
    d.settle();
    CHECK(d.state.part<MasksTabState>().views["combined"].zoom == 1.0F);
    CHECK(d.find_on_stage("rawscores")->low.y < scores - 40.0F);
    d.hands.push(KeyEvent{Key::none, true, with_ctrl});
    d.hands.push(Wheel{0, 1});
    d.settle();
    float zoom = 1.0F;
    for (const auto& [title, view] : d.state.part<MasksTabState>().views) zoom = std::max(zoom, view.zoom);
    CHECK(zoom > 1.0F);
    d.hands.push(KeyEvent{Key::none, false, {}});
}

TEST_CASE("what a painted cell does is read below the pictures while the mouse is on it") {
    Driver d("reverse");
    d.press(Key::m);
    d.point(d.heatmap(kMask, "combined").middle(2, 4));
    CHECK(d.sees("query2“e”→key4“o”:"));
    CHECK(d.sees("weight"));
}
