// The Masks tab: the commands that gestures give, and what is then shown.
#include "app/views/tabs/masks/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views::masks;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;
using decoderscope::testing::find_text;
using decoderscope::testing::kScreens;
using decoderscope::testing::open_tab;
using decoderscope::testing::Screen;

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
    d.hands.tap(Key::z, with_ctrl);
    d.settle();
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
                d.hands.push(MouseMove{2, 2});
                d.settle();
                check_layout(d, screen.size);
                const std::string attention = shown_attention(d.session);
                d.session.apply(command::PaintMasks{
                    {attention, 0, std::nullopt,
                     cells_of_row(1, d.session.shown().run->value(attention + ".mask").dim(3)), false}});
                d.session.apply(command::SetOption{"mask_value", "-inf"});
                d.session.finish();
                d.settle();
                check_layout(d, screen.size);
                // In a low window the findings are below the pictures.
                d.hands.push(MouseMove{d.stage().low.x + 19.0F * screen.scale, screen.size.y * 0.6F});
                for (int i = 0; i < 40; ++i) d.hands.push(Wheel{0, -5});
                d.hands.push(MouseMove{2, 2});
                d.settle();
                for (int i = 0; i < 20 && !d.sees("firstNaN"); ++i) {  // above the leak test
                    d.hands.push(MouseMove{d.stage().low.x + 19.0F * screen.scale, screen.size.y * 0.6F});
                    d.hands.push(Wheel{0, 0.5F});
                    d.hands.push(MouseMove{2, 2});
                    d.settle();
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
