// The pictures of the Step tab: their cells, numbers, labels, and how they share the stage.
#include "app/core/run/labels.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/drawn_text.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/tabs/step/cross_pattern.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

// The operands and the result of the current step that have up to 32 rows.
std::set<std::string> small_pictures(const Driver& d) {
    const Plan& plan = d.session.shown().run->plan();
    const Step& step = d.session.step();
    std::set<std::string> names = {step.name};
    for (const StepId id : step.operands) names.insert(plan[id].name);
    std::erase_if(names, [&](const std::string& name) {
        const Axes& axes = plan.find(name)->axes;
        return axes.size() >= 2 && axes[axes.size() - 2].size > 32;
    });
    return names;
}

bool overlap(const Area& a, const Area& b) {
    return a.low.x < b.high.x && b.low.x < a.high.x && a.low.y < b.high.y && b.low.y < a.high.y;
}

}  // namespace

TEST_CASE("one long number shortens itself; without room for it in any form no cell has its number") {
    Driver d("reverse", 1.0F, {1060, 800});
    const std::string before = d.heatmap(kCrossPattern).number(0, 7);
    CHECK_FALSE(before.empty());
    for (const auto& [value, text] : {std::pair{1e-12F, ".00"}, std::pair{-1e9F, ""}, std::pair{0.5F, ".50"}}) {
        const bool all = *text != '\0';
        d.apply(command::TypeOver{kCrossPattern, {0, 3, 4, 4}, value});
        const DrawnHeatmap drawn = d.heatmap(kCrossPattern);
        CHECK(drawn.number(4, 4) == text);
        CHECK(drawn.number(0, 7) == (all ? before : ""));
        int empty = 0;
        for (int i = 0; i < 144; ++i) empty += drawn.number(i / 12, i % 12).empty() ? 1 : 0;
        CHECK(empty == (all ? 0 : 144));
        d.session.apply(command::ClearEdits{});
    }
}

TEST_CASE("every row and every column has its label, shortened where it crowds") {
    Driver d("reverse");
    for (const char* name : {"blocks.1.cross_attn.pattern", "masked_scores"}) {
        const DrawnHeatmap drawn = d.heatmap(kCrossPattern, name);
        for (int i = 0; i < 12; ++i) {
            INFO(name << " " << i);
            CHECK_FALSE(drawn.column_label(i).empty());
            CHECK_FALSE(drawn.row_label(i).empty());
        }
        CHECK(drawn.column_label(1).ends_with("d"));  // the end of a longer neighbour may be above it, too
        CHECK(drawn.column_label(11).find('p') != std::string::npos);  // of "<pad>"
    }
}

TEST_CASE("the label of the column under the mouse is written in full") {
    Driver d("reverse");
    d.point(d.heatmap(kCrossPattern).middle(1, 9));
    const DrawnHeatmap drawn = d.heatmap(kCrossPattern);
    const auto whole = std::ranges::any_of(d.seen(), [&](const DrawnText& piece) {
        return piece.text.find("<pad>") != std::string::npos && piece.high.y < drawn.cells().low.y &&
               piece.low.x < drawn.cell(0, 9).high.x && piece.high.x > drawn.cell(0, 9).low.x;
    });
    CHECK(whole);
}

TEST_CASE("at every step the cells of small matrices are high enough to hit, and tokens' rows have their labels") {
    Driver d("reverse", 1.0F, {1280, 880});
    for (std::size_t i = 0; i < d.session.timeline().size(); ++i) {
        const Step& step = d.session.shown().run->plan()[d.session.timeline()[i]];
        if (!step.block.empty() && block_number(step) > 0) continue;
        d.apply(command::GoTo{step.name});
        for (const std::string& name : small_pictures(d)) {
            const auto title = d.find_on_stage(name);
            if (!title) continue;  // too long for its picture: cut with "…"
            INFO(step.name << ": " << name);
            const Axes& axes = d.session.shown().run->plan().find(name)->axes;
            const Index rows = axes.size() < 2 ? 1 : axes[axes.size() - 2].size;
            // The rows of wide matrices have room for their labels. Where the result has no heads, an operand's are
            // side by side.
            const Index heads = axes.size() == 4 && step.axes.size() < 4 ? axes[1].size : 1;
            const float least = heads * axes.back().size <= 32 ? 13.9F : rows <= 12 ? 10.9F : 4.0F;
            CHECK(d.heatmap(name).cell_size().y >= least);
        }
    }
}

TEST_CASE("columns of heads side by side are labelled by their heads, however wide they are") {
    int heads = 0;
    for (float width = 1000.0F; width < 1900.0F; width += 60.0F) {
        Driver d("reverse", 1.0F, {width, 800.0F});
        d.apply(command::GoTo{"blocks.0.attn_out"});
        const DrawnHeatmap z = d.heatmap("blocks.0.attn.z");
        const Area cells = z.cells();
        for (const DrawnText& piece : d.seen()) {
            const bool above = piece.high.y < cells.low.y && piece.high.y > cells.low.y - 24.0F;
            if (!above || piece.low.x < cells.low.x - 2.0F || piece.high.x > cells.high.x + 2.0F) continue;
            INFO(width << ": " << piece.text);
            const std::string label = piece.text.starts_with("head") ? piece.text.substr(4) : piece.text;
            CHECK((label.size() == 1 && label >= "0" && label <= "3"));
            ++heads;
        }
    }
    CHECK(heads >= 15);
}

TEST_CASE("the pictures get the height of the stage where it is of use to them") {
    Driver d("reverse", 1.0F, {1280, 880});
    d.apply(command::GoTo{"logits"});
    // 12 × 29: its cells are as wide as the stage allows, and square.
    const DrawnHeatmap logits = d.heatmap("logits");
    CHECK(logits.cell_size().y >= 16.0F);
    d.apply(command::GoTo{"blocks.0.attn.attn_scores"});
    CHECK(d.heatmap("blocks.0.attn.attn_scores").cell_size().x >= 20.0F);
}

TEST_CASE("the mouse marks the cell's row and column, more boldly for a lecture hall") {
    Driver d("reverse");
    const auto vertices = [&] {
        int count = 0;
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) count += data.CmdLists[i]->VtxBuffer.Size;
        return count;
    };
    d.point({2, 2});
    const int plain = vertices();
    d.point(d.heatmap(kCrossPattern).middle(5, 2));
    CHECK(vertices() > plain);
    CHECK_FALSE(d.state.settings.large_pointer);
    d.press(Key::l);
    CHECK(d.state.settings.large_pointer);
    d.press(Key::l);
    CHECK_FALSE(d.state.settings.large_pointer);
}

TEST_CASE("a tooltip covers neither its cell's row and column nor the explanation of the click") {
    for (const char* step :
         {"blocks.1.cross_attn.pattern", "logits", "blocks.0.resid_mid", "blocks.0.ln1.normalized"}) {
        Driver d("reverse");
        d.apply(command::GoTo{step});
        const DrawnHeatmap drawn = d.heatmap(step);
        for (const auto& [row, column] : {std::pair{0, 0}, std::pair{5, 3}, std::pair{11, 11}}) {
            d.point(drawn.middle(row, column));
            const std::string cell = "," + std::to_string(row) + "," + std::to_string(column) + "]";
            std::optional<DrawnText> name;
            for (const DrawnText& piece : d.seen())
                if (piece.text.find(step) == 0 && piece.text.ends_with(cell)) name = piece;
            INFO(step << " " << row << ", " << column);
            REQUIRE(name);
            // Its lines are below its name.
            const Area tip = {{name->low.x - 8, name->low.y - 8}, {name->high.x + 8, name->high.y + 60}};
            const Area box = drawn.cell(row, column), all = drawn.cells();
            CHECK_FALSE(overlap(tip, {{all.low.x, box.low.y}, {all.high.x, box.high.y}}));
            CHECK_FALSE(overlap(tip, {{box.low.x, all.low.y}, {box.high.x, all.high.y}}));
            CHECK(name->high.x <= d.stage().high.x);
        }
    }
}

TEST_CASE("the first screen of each trained model shows its pattern whole, at every window size") {
    for (const char* model : {"reverse", "reverse-post-norm", "induction", "verses", "dates"}) {
        for (const Screen screen : {Screen{1.0F, {1024, 768}}, Screen{1.0F, {1280, 800}}, Screen{1.0F, {1920, 1080}},
                                    Screen{2.0F, {2560, 1440}}, Screen{2.0F, {3840, 2160}}}) {
            INFO(model << " at " << screen.size.x << " x " << screen.size.y);
            Driver d(model, screen.scale, screen.size);
            const Step& step = d.session.step();
            const std::vector<std::string> labels =
                axis_labels(d.session.shown().scenario, step, 3, d.session.cursor().place.batch);
            const DrawnHeatmap drawn = d.heatmap(step.name);
            // Where columns were missing, the labels would stand over others.
            for (std::size_t i = 0; i < labels.size(); ++i) {
                const std::string label = drawn.column_label(static_cast<int>(i));
                INFO("column " << i << ", " << labels[i] << ": " << label);
                const bool letter = labels[i].size() == 1;
                CHECK((label.empty() || !letter || label.find(labels[i]) != std::string::npos));
            }
        }
    }
}

TEST_CASE("a matrix without room for cells that can be hit is scrolled, not shrunk") {
    Driver d("reverse", 1.0F, {1000, 560});
    const Area first = d.heatmap(kCrossPattern, "masked_scores").cells();
    d.point({(first.low.x + first.high.x) * 0.5F, first.low.y + 20.0F});
    // The wheel over the pictures scrolls to the result.
    const auto is_high = [&] {
        const auto title = d.find_on_stage(kCrossPattern);
        return title && title->low.y < first.low.y + 60.0F;
    };
    for (int i = 0; i < 60 && !is_high(); ++i) {
        d.hands.push(Wheel{0, -0.5F});
        d.settle();
    }
    REQUIRE(d.find_on_stage(kCrossPattern));
    CHECK(d.heatmap(kCrossPattern, kCrossPattern).cell_size().x >= 15.9F);
}

TEST_CASE("a window of any size draws every tab") {
    for (const Screen screen : {Screen{1.0F, {400, 300}}, Screen{1.0F, {640, 200}}, Screen{2.0F, {400, 300}}}) {
        for (const char* model : {"reverse", "causal-lm-as-meant"}) {
            Driver d(model, screen.scale, screen.size);
            for (const Key key : {Key::m, Key::h, Key::enter, Key::s, Key::x}) {
                d.press(key);
                d.point({screen.size.x * 0.5F, screen.size.y * 0.5F});
                CHECK_FALSE(d.seen().empty());
            }
        }
    }
}

// Words that have no room above their columns lean, and are read whole.

namespace {

std::vector<DrawnText> leaning() { return turned_text(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts); }

}  // namespace

TEST_CASE("words that are too long for their columns lean over them, whole and inside the window") {
    Driver d("words");
    CHECK(leaning().empty());
    d.apply(command::TypeInput{
        {.target = Typed{.text = "And the children of Israel did so , as the LORD commanded Moses"}}});
    const std::vector<DrawnText> words = leaning();
    for (const char* word : {"children", "Israel", "commanded", "Moses"}) {
        INFO(word);
        CHECK(std::ranges::count(words, std::string(word), &DrawnText::text) >= 1);
    }
    for (const DrawnText& word : words) {
        INFO(word.text);
        CHECK(word.high.x < d.stage().high.x);
        CHECK(std::min(word.low.y, word.high.y) > d.stage().low.y);
    }
    const auto cells = d.heatmap("blocks.1.attn.pattern");
    CHECK(cells.cell_size().x >= 16.0F);
    CHECK(cells.number(12, 12).find('.') != std::string::npos);
    check_layout(d, {1280, 800});
}

TEST_CASE("where half of the width is enough, a token's scores are at the height of its weights, and words are whole") {
    Driver d("words");
    d.session.apply(command::TypeInput{{.target = Typed{.text = "And he said to him , I am the LORD of all"}}});
    d.session.finish();
    d.settle();
    const std::vector<DrawnText> words = leaning();
    for (const char* word : {"And", "said", "him"})
        CHECK(std::ranges::count(words, std::string(word), &DrawnText::text) == 2);
    const auto scores = d.heatmap("blocks.1.attn.masked_scores"), weights = d.heatmap("blocks.1.attn.pattern");
    for (const int row : {0, 12}) {
        CHECK(std::abs(scores.middle(row, 0).y - weights.middle(row, 0).y) < 3.0F);
        CHECK(scores.number(row, 0).size() > 1);
        CHECK(weights.number(row, 0).size() >= 1);
    }
}

// An attention's sink in the window: a column beside the keys wherever its pattern is drawn.

namespace {

std::shared_ptr<const Model> fixture() { return load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/sinks"); }

// Where the column's label is drawn, which is cut in a narrow column: beside the pattern's other columns, not under
// "softmax with a …" on the arrow.
std::vector<ImVec2> sinks_on(Driver& d) {
    std::vector<ImVec2> at;
    for (const DrawnText& piece : d.seen()) {
        const bool under_arrow = std::ranges::any_of(d.seen(), [&](const DrawnText& other) {
            return other.text == "witha" && std::abs(other.middle().x - piece.middle().x) < 30.0F;
        });
        const bool is_label = (piece.text.ends_with("sink") && piece.text.find("nokey") == std::string::npos) ||
                              piece.text.ends_with("sin");
        if (is_label && d.on_stage(piece) && !under_arrow) at.push_back({piece.x.back(), piece.middle().y});
    }
    return at;
}

}  // namespace

TEST_CASE("Step, Heads and Masks draw the sink beside the keys") {
    const ImVec2 size = {1280, 1400};
    Driver d(fixture(), 1.0F, size);
    d.apply(command::GoTo{"blocks.0.attn.pattern"});
    CHECK(sinks_on(d).size() == 1);
    check_layout(d, size);
    for (const Key key : {Key::m, Key::h}) {
        d.press(key);
        d.settle();
        if (key == Key::h) d.press(Key::enter);
        d.settle();
        INFO(d.state.tab);
        CHECK_FALSE(sinks_on(d).empty());
        check_layout(d, size);
    }
}

TEST_CASE("a click on the sink's column goes to the sink's tensor; a brush leaves it alone") {
    Driver d(fixture());
    d.apply(command::GoTo{"blocks.0.attn.pattern"});
    const ImVec2 label = sinks_on(d).front(), cell = {label.x, label.y + 30.0F};
    d.click(cell, Button::right);
    CHECK(d.session.scenario().edits.empty());
    d.click(cell);
    CHECK(d.session.step().name == "blocks.0.attn.sink");
    REQUIRE(d.session.cursor().cell);
    CHECK(d.session.cursor().cell->size() == 4);
}

// What is on the stage before a step and after it glides from the one place to the other.

namespace {

const std::string kScores = "blocks.0.attn.masked_scores";
const std::string kPattern = "blocks.0.attn.pattern";

Area corner_of(const Driver& d) { return d.heatmap(kScores).cell(0, 0); }

float apart(const Area& a, const Area& b) { return std::hypot(a.low.x - b.low.x, a.low.y - b.low.y); }

// At the scores, with the key for the next step pressed; so far as that the step is the pattern.
void step_on(Driver& d, bool motion) {
    d.state.settings.reduced_motion = !motion;
    d.session.apply(core::command::GoTo{kScores});
    for (int i = 0; i < 30; ++i) d.settle_one();
    d.hands.tap(Key::right);
    while (d.session.step().name != kPattern) d.settle_one();
}

}  // namespace

TEST_CASE("a picture glides from its old place to its new one when the step changes") {
    Driver still("reverse"), moving("reverse");
    step_on(still, false);
    still.settle_one();
    const Area there = corner_of(still);

    still.apply(core::command::GoTo{kScores});
    const Area here = corner_of(still);
    REQUIRE(apart(here, there) > 50.0F);

    step_on(moving, true);
    moving.settle_one();
    CHECK(apart(corner_of(moving), here) < 1.0F);
    CHECK(moving.state.busy);
    float left = apart(here, there);
    int frames = 0;
    while (moving.state.busy && ++frames < 60) {
        moving.state.busy = false;
        moving.settle_one();
        const float now = apart(corner_of(moving), there);
        CHECK(now <= left + 2.5F);  // pictures stand on whole pixels
        left = now;
    }
    CHECK(left < 1.0F);
    CHECK(frames > 5);
    CHECK(frames <= 20);
}

TEST_CASE("where motion is reduced a picture is in its new place at once") {
    Driver d("reverse");
    step_on(d, false);
    d.settle_one();
    CHECK_FALSE(d.state.busy);
    const Area first = corner_of(d);
    d.settle();
    CHECK(apart(corner_of(d), first) < 1.0F);
}

TEST_CASE("a picture on its way is that of its step: its number is explained by a click") {
    Driver d("reverse");
    step_on(d, true);
    for (int i = 0; i < 6; ++i) d.settle_one();
    const Area on_its_way = corner_of(d);
    d.click({(on_its_way.low.x + on_its_way.high.x) * 0.5F, (on_its_way.low.y + on_its_way.high.y) * 0.5F});
    CHECK(d.session.step().name == kScores);
}
