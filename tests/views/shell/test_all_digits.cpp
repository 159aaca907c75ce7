// Measured on what was drawn, of every picture in every tab: within one picture every cell that can be seen has its
// number or none has; cells with numbers fill their picture; and how much of the stage is used.
#include "app/core/text/numbers.h"
#include "app/views/frame/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

struct Cells {
    int rows = 0, columns = 0, with = 0, without = 0;  // those wholly in sight
};

bool is_inside(const Area& outer, const Area& inner) {
    constexpr float kRounding = 0.51F;
    return inner.low.x >= outer.low.x - kRounding && inner.high.x <= outer.high.x + kRounding &&
           inner.low.y >= outer.low.y - kRounding && inner.high.y <= outer.high.y + kRounding;
}

// A texture has a pixel a cell, unless cells are smaller than pixels: then none has a number.
Cells cells_of(const Driver& d, const DrawnPicture& picture, int rows, int columns) {
    Cells cells{rows, columns};
    const float width = picture.whole.width() / static_cast<float>(columns),
                height = picture.whole.height() / static_cast<float>(rows);
    std::vector<bool> numbered(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), false);
    for (const DrawnText& piece : d.seen()) {
        const float y = piece.middle().y;
        if (y < picture.seen.low.y || y >= picture.seen.high.y) continue;
        const int row = static_cast<int>((y - picture.whole.low.y) / height);
        for (const float x : piece.x) {
            if (x < picture.seen.low.x || x >= picture.seen.high.x) continue;
            const int column = static_cast<int>((x - picture.whole.low.x) / width);
            numbered[static_cast<std::size_t>(std::clamp(row, 0, rows - 1)) * static_cast<std::size_t>(columns) +
                     static_cast<std::size_t>(std::clamp(column, 0, columns - 1))] = true;
        }
    }
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            const ImVec2 low = {picture.whole.low.x + width * static_cast<float>(column),
                                picture.whole.low.y + height * static_cast<float>(row)};
            if (!is_inside(picture.seen, {low, {low.x + width, low.y + height}})) continue;
            const bool has = numbered[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                                      static_cast<std::size_t>(column)];
            ++(has ? cells.with : cells.without);
        }
    }
    return cells;
}

// The part of the stage's width, and of its height, from the first to the last thing that is drawn there.
ImVec2 used_part(const Driver& d, const std::vector<DrawnPicture>& pictures) {
    const Area stage = d.stage();
    Area used = {stage.high, stage.low};
    const auto add = [&](ImVec2 low, ImVec2 high) {
        if (!stage.contains(low)) return;
        used = {{std::min(used.low.x, low.x), std::min(used.low.y, low.y)},
                {std::max(used.high.x, high.x), std::max(used.high.y, high.y)}};
    };
    for (const DrawnText& piece : d.seen()) add(piece.low, piece.high);
    for (const DrawnPicture& picture : pictures) add(picture.seen.low, picture.seen.high);
    return {used.width() / stage.width(), used.height() / stage.height()};
}

// How much of the stage's larger dimension the pictures reach over, with the labels at their left.
float reached_part(const Driver& d, const std::vector<DrawnPicture>& pictures, float scale) {
    const Area stage = d.stage();
    Area all = {stage.high, stage.low};
    for (const DrawnPicture& picture : pictures) {
        if (!stage.contains(picture.seen.low)) continue;
        all = {{std::min(all.low.x, picture.seen.low.x), std::min(all.low.y, picture.seen.low.y)},
               {std::max(all.high.x, picture.seen.high.x), std::max(all.high.y, picture.seen.high.y)}};
    }
    return stage.width() >= stage.height() ? (all.width() + 60.0F * scale) / stage.width()
                                           : (all.height() + 60.0F * scale) / stage.height();
}

// The pixels of the stage that pictures cover, of all of its pixels.
double covered_part(const Driver& d, const std::vector<DrawnPicture>& pictures) {
    double pixels = 0.0;
    for (const DrawnPicture& picture : pictures)
        if (d.stage().contains(picture.seen.low))
            pixels += static_cast<double>(picture.seen.width()) * static_cast<double>(picture.seen.height());
    return pixels / (static_cast<double>(d.stage().width()) * static_cast<double>(d.stage().height()));
}

// How many cells the mask hides in the attention that is open. They may be without their number, all of them, where the
// legend says it: "padding mask: −1e9".
int masked_cells(const Driver& d) {
    const Plan& plan = d.session.shown().run->plan();
    const Step& step = d.session.step();
    const Ref pattern = plan.step_of(step.attention, AttentionStep::pattern);
    if (pattern == nullptr || !pattern->masked_by) return 0;
    const Tensor& mask = d.session.shown().run->value(*pattern->masked_by);
    const core::Place place = d.session.cursor().place;
    int hidden = 0;
    for (Index query = 0; query < mask.dim(2); ++query)
        for (Index key = 0; key < mask.dim(3); ++key)
            hidden += mask.at(Cell{place.batch, place.head, query, key}) == 0.0F ? 1 : 0;
    return hidden;
}

bool legend_says_fill(const Driver& d) {
    const double fill = d.session.scenario().config().mask_value;
    return d.find_on_stage(without_spaces(": " + core::short_number_text(fill, 3))).has_value();
}

struct Counted {
    int pictures = 0, with_numbers = 0;
};

void check_pictures(Driver& d, Counted& counted) {
    const std::vector<DrawnPicture> pictures = drawn_textures(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    int on_stage = 0;
    bool lacks_numbers = false;  // a matrix that is read as a table has cells that are too small for them
    for (const DrawnPicture& picture : pictures) {
        if (!d.stage().contains(picture.seen.low)) continue;
        const auto of = std::ranges::find_if(d.textures.pictures(), [&](const auto& one) {
            return compat::texture_id(one.first + 1) == picture.texture;
        });
        if (of == d.textures.pictures().end()) continue;
        const Cells cells = cells_of(d, picture, of->second.height, of->second.width);
        INFO("a picture of " << cells.rows << " x " << cells.columns << " cells at " << picture.whole.low.x << ", "
                             << picture.whole.low.y << ": " << cells.with << " have a number, " << cells.without
                             << " have none");
        ++counted.pictures;
        counted.with_numbers += cells.with > 0 ? 1 : 0;
        CHECK((cells.with == 0 || cells.without == 0 || (cells.without == masked_cells(d) && legend_says_fill(d))));
        constexpr int kTable = 32;
        lacks_numbers = lacks_numbers || (cells.with == 0 && cells.rows <= kTable && cells.columns <= kTable &&
                                          cells.rows > 1 && cells.columns > 1);
        ++on_stage;
    }
    if (on_stage == 0) return;  // a sentence that says why there is nothing
    const ImVec2 used = used_part(d, pictures);
    INFO("used: " << used.x << " of the width, " << used.y << " of the height, pictures cover "
                  << covered_part(d, pictures));
    CHECK(std::max(used.x, used.y) >= 0.5F);
    const float reached = reached_part(d, pictures, d.fonts().scale);
    INFO("pictures reach over " << reached << " of the larger dimension");
    // Causes' picture stands above a table, which needs the room. In a narrow window the heads of a layer fill its
    // width; their captions need the height.
    const bool is_narrow = d.state.tab == "heads" && ImGui::GetIO().DisplaySize.x < 1280.0F;
    // The canvas shows everything at once: there numbers come by zooming in.
    if (lacks_numbers && d.state.tab != "ask" && d.state.tab != "canvas") CHECK(reached >= (is_narrow ? 0.4F : 0.66F));
}

// Every tab of every bundled model in a window of this size.
void check_window(float scale, ImVec2 size, Counted& counted) {
    for (const BundledModel& model : looked_at(bundled_models(), 3)) {
        Driver d(model.name, scale, size);
        for (const Tab& tab : tabs()) {
            d.state.tab = tab.id;
            d.settle();
            d.settle();
            INFO(model.name << ", " << tab.id << ", " << size.x << " x " << size.y << " at scale " << scale);
            check_pictures(d, counted);
        }
    }
}

const std::array kWindowSizes = {std::pair{1.0F, ImVec2{1024, 768}}, std::pair{1.0F, ImVec2{1280, 800}},
                                 std::pair{1.0F, ImVec2{1920, 1080}}, std::pair{2.0F, ImVec2{2560, 1440}},
                                 std::pair{2.0F, ImVec2{3840, 2160}}};

}  // namespace

TEST_CASE("in every tab of every bundled model each picture has all of its numbers or none, at 1280 x 800") {
    Counted counted;
    check_window(1.0F, {1280, 800}, counted);
    CHECK(counted.pictures > (kSanitized ? 60 : 200));
    CHECK(counted.with_numbers > (kSanitized ? 10 : 40));
}

// Words of another length change a picture's room where there is little of it.
TEST_CASE("the same at every size of the window, and in every language at the smallest", "[.thorough]") {
    Counted counted;
    for (const auto& [scale, size] : kWindowSizes) check_window(scale, size, counted);
    for (const std::string& code : translations()) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        INFO(code);
        check_window(kWindowSizes.front().first, kWindowSizes.front().second, counted);
    }
    CHECK(counted.with_numbers > 300);
}

TEST_CASE("a wide window is used: Heads shows q, k and v whole beside pattern and lines") {
    Driver d("reverse", 1.0F, {1920, 1080});
    d.press(Key::h);
    d.press(Key::enter);
    for (const char* letter : {"q", "k", "v"}) {
        const DrawnHeatmap drawn = d.heatmap(std::string("blocks.1.cross_attn.") + letter);
        CHECK(drawn.cells().high.y < d.stage().high.y);
        CHECK(drawn.cell_size().y >= 10.9F);
    }
    const std::vector<DrawnPicture> pictures = drawn_textures(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    CHECK(covered_part(d, pictures) > 0.26);
}

TEST_CASE("at 1280 x 900 a head's page shows q, k and v of the pair of tokens that is looked at, without scrolling") {
    Driver d("reverse", 1.0F, {1280, 900});
    d.press(Key::h);
    d.press(Key::enter);
    d.apply(command::SelectCell{{0, 3, 4, 3}});
    const auto title = d.find_on_stage("qofquery4,kandvofkey3");
    REQUIRE(title);
    const Tensor& k = d.session.shown().run->value("blocks.1.cross_attn.k");
    const DrawnHeatmap drawn(d.seen(), d.pictures(), "qofquery4", 3, static_cast<int>(k.dim(3)));
    CHECK(drawn.cells().high.y < d.stage().high.y);
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < static_cast<int>(k.dim(3)); ++column)
            CHECK_FALSE(drawn.number(row, column).empty());
    d.click(drawn.middle(1, 5));
    CHECK(d.session.step().name == "blocks.1.cross_attn.k");
    CHECK(d.session.cursor().cell == Cell{0, 3, 3, 5});
}

TEST_CASE("labels that begin alike keep what tells them apart") {
    Driver d("reverse");
    d.apply(command::GoTo{"blocks.0.cross_attn_out"});
    CHECK_FALSE(d.find_on_stage("head…"));
    for (const char* head : {"0", "1", "2", "3"}) {
        const auto& seen = d.seen();
        CHECK(std::ranges::any_of(seen, [&](const DrawnText& piece) {
            return d.on_stage(piece) && (piece.text == head || piece.text == std::string("head") + head);
        }));
    }
}
