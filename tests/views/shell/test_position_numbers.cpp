// Positions have their numbers beside their tokens: on the axes of pictures and in the chips of the input, all of them
// or none.
#include "app/core/run/labels.h"
#include "app/views/tabs/ask/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/tabs/masks/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/tabs/step/cross_pattern.h"

#include <algorithm>
#include <set>
#include <string>

using namespace decoderscope::testing;

namespace {

struct Numbered {
    int rows = 0, columns = 0;
};

// How many rows and columns have their number before their token.
Numbered numbered_axes(const DrawnHeatmap& drawn, int rows, int columns) {
    Numbered found;
    for (int row = 0; row < rows; ++row) found.rows += drawn.numbers_row(row) ? 1 : 0;
    for (int column = 0; column < columns; ++column) found.columns += drawn.numbers_column(column) ? 1 : 0;
    return found;
}

}  // namespace

TEST_CASE("rows and columns of a pattern have their positions beside the tokens") {
    for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
        Driver d("reverse", 1.0F, size);
        const Numbered found = numbered_axes(d.heatmap(kCrossPattern), 12, 12);
        INFO(size.x << " x " << size.y);
        CHECK((found.rows == 12 || found.rows == 0));
        CHECK((found.columns == 12 || found.columns == 0));
        if (size.x > 1280.0F) {
            CHECK(found.rows == 12);
            CHECK(found.columns == 12);
        }
    }
}

TEST_CASE("of each bundled model's first picture all positions have their numbers, or none") {
    int with = 0;
    for (const BundledModel& model : bundled_models()) {
        Driver d(model.name);
        const Step& step = d.session.step();
        if (step.axes.size() < 2 || !d.session.scenario().computes()) continue;
        const Index batch = d.session.cursor().place.batch;
        const auto labels = [&](std::size_t axis) {
            return axis_labels(d.session.shown().scenario, step, axis, batch);
        };
        const auto has_tokens = [&](std::size_t axis) {
            const std::vector<std::string> tokens = labels(axis);
            return sequence_along(step, axis) != TokenSequence::none && tokens.size() <= 32 &&
                   std::ranges::none_of(tokens, [](const std::string& token) {
                       return token.find_first_of("0123456789") != std::string::npos;
                   });
        };
        const std::size_t rows = step.axes.size() - 2, columns = step.axes.size() - 1;
        if (!has_tokens(rows) || !has_tokens(columns)) continue;
        const int height = static_cast<int>(step.axes[rows].size), width = static_cast<int>(step.axes[columns].size);
        const Numbered found = numbered_axes(d.heatmap(step.name), height, width);
        INFO(model.name << ": " << found.rows << " of " << height << " rows, " << found.columns << " of " << width);
        CHECK((found.rows == 0 || found.rows == height));
        CHECK((found.columns == 0 || found.columns == width));
        with += found.rows == height && found.columns == width ? 1 : 0;
    }
    CHECK(with >= 1);
}

TEST_CASE("Heads numbers the positions, too") {
    Driver d("reverse", 1.0F, {1920, 1080});
    const auto numbers_on_stage = [&] {
        std::set<int> found;
        for (const DrawnText& piece : d.seen())
            if (d.on_stage(piece) && piece.text.size() < 3 &&
                piece.text.find_first_not_of("0123456789") == std::string::npos)
                found.insert(std::stoi(piece.text));
        return found;
    };
    d.press(Key::h);
    d.press(Key::enter);
    for (const int position : {8, 9, 10, 11}) CHECK(numbers_on_stage().contains(position));
}

// What the window says while it can't run what is typed, of dropout, of one selection, and of what it measured before.

namespace {

void apply(Driver& d, const Command& command) { d.apply(command); }

void open(Driver& d, std::string_view tab) {
    d.state.tab = tab;
    for (int i = 0; i < 3; ++i) {
        d.settle();
        d.session.finish();
    }
    d.settle();
}

}  // namespace

TEST_CASE("while what is typed can't be run, no answer of the run before stands there as if it were new") {
    Driver d("reverse", 1.0F, {1600, 900});
    REQUIRE(d.sees("100%"));
    apply(d, command::TypeInput{{.target = Typed{.text = "redXceY"}}});
    CHECK(d.sees("\"X\",\"Y\"arenotinthevocabulary"));
    CHECK_FALSE(d.sees("100%"));
    // What is shown of the run before doesn't act.
    d.forget();
    const Area stage = d.stage();
    d.click({(stage.low.x + stage.high.x) * 0.5F, (stage.low.y + stage.high.y) * 0.5F});
    CHECK(d.last<command::SelectCell>() == nullptr);
    CHECK(d.last<command::Follow>() == nullptr);
    apply(d, command::TypeInput{{.target = Typed{.text = "redecXX"}}});
    CHECK(d.sees("\"X\"isnotinthevocabulary"));
    apply(d, command::TypeInput{{.target = Typed{.text = "redec"}}});
    CHECK(d.session.input_error().empty());
    CHECK(d.sees("%"));
}

TEST_CASE("dropout is a difference for Diff") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 1000});
    open(d, "diff");
    CHECK(d.sees("Nothingdiffers"));
    apply(d, command::SetDropout{3});
    open(d, "diff");
    CHECK_FALSE(d.sees("Nothingdiffers"));
    CHECK(d.sees("Aisthisrunwithdropout,Bthesamerunwithout"));
    CHECK(d.sees("tensorsdiffer"));
    apply(d, command::SetDropout{});
    open(d, "diff");
    CHECK(d.sees("Nothingdiffers"));
}

TEST_CASE("Masks and Heads are about the same attention, whatever step is selected") {
    Driver d("reverse", 1.0F, {1600, 1000});
    for (const char* step : {"blocks.1.attn.pattern", "probs", "blocks.0.cross_attn.z", "logits", "blocks.1.mlp_out"}) {
        apply(d, command::GoTo{step});
        INFO(step);
        open(d, "heads");
        const std::string in_heads = d.state.part<views::heads::HeadsTabState>().attention;
        open(d, "masks");
        CHECK(views::masks::shown_attention(d.session) == in_heads);
        CHECK(d.session.attention() == in_heads);
    }
}

TEST_CASE("what Causes measured of a run is there when the tab is opened again") {
    Driver d("induction", 1.0F, {1600, 1000});
    open(d, "causes");
    const auto& causes = d.state.part<views::ask::AskTabState>();
    REQUIRE(causes.last);
    const std::uint64_t measured = causes.last.answer().number();
    // Both compute companions beside the run.
    open(d, "masks");
    open(d, "diff");
    d.state.tab = "causes";
    d.settle();
    REQUIRE(causes.last);
    CHECK_FALSE(causes.last.stale());
    CHECK(causes.last.answer().number() == measured);
}
