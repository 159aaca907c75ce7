#include "app/core/figure/heatmap_image.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

constexpr ColorMap kMap = ColorMap::viridis;

std::size_t nth(Index i) { return static_cast<std::size_t>(i); }

Heatmap heatmap_of(Index rows, Index columns, std::vector<float> values) {
    Heatmap heatmap;
    heatmap.rows = rows;
    heatmap.columns = columns;
    heatmap.values = std::move(values);
    heatmap.range = {-1, 1};
    return heatmap;
}

// Values with an occasional NaN, kInfinity or masked cell.
Heatmap random_heatmap(std::mt19937& random) {
    std::uniform_int_distribution<Index> side(1, 40);
    std::uniform_real_distribution<float> value(-1, 1);
    std::uniform_int_distribution<int> die(0, 60);
    const Index rows = side(random);
    const Index columns = side(random);
    Heatmap heatmap = heatmap_of(rows, columns, std::vector<float>(nth(rows * columns)));
    const bool masked = die(random) < 30;
    if (masked) heatmap.hidden.resize(heatmap.values.size());
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) {
        const int thrown = die(random);
        heatmap.values[i] = thrown == 0 ? kNan : thrown == 1 ? kInfinity : thrown == 2 ? -kInfinity : value(random);
        if (masked) heatmap.hidden[i] = static_cast<std::uint8_t>(std::max(0, die(random) - 45));
    }
    return heatmap;
}

CellRect random_part(const Heatmap& heatmap, std::mt19937& random) {
    const auto within = [&](Index last) { return std::uniform_int_distribution<Index>(0, last)(random); };
    CellRect part{within(heatmap.rows - 1), within(heatmap.columns - 1), 0, 0};
    part.rows = 1 + within(heatmap.rows - part.row - 1);
    part.columns = 1 + within(heatmap.columns - part.column - 1);
    return part;
}

bool is_masked(const Heatmap& heatmap, Index offset) {
    return !heatmap.hidden.empty() && heatmap.hidden[nth(offset)] != hidden_by::nothing;
}

// Whether cell a must not be hidden by cell b, exactly as the header says.
bool outranks(const Heatmap& heatmap, Index a, Index b) {
    const float x = heatmap.values[nth(a)];
    const float y = heatmap.values[nth(b)];
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && !std::isnan(y);
    if (is_masked(heatmap, a) != is_masked(heatmap, b)) return !is_masked(heatmap, a);
    return std::fabs(x) > std::fabs(y);
}

// Whether pixel `pixel` of `pixels`, laid over `cells` cells, covers any part of cell `cell`.
bool covers(Index pixel, Index pixels, Index cell, Index cells) {
    return pixel * cells < (cell + 1) * pixels && (pixel + 1) * cells > cell * pixels;
}

}  // namespace

TEST_CASE("a heatmap has one pixel a cell") {
    const Heatmap heatmap = heatmap_of(2, 3, {-1, 0, 1, 0.5F, kNan, 7});
    const auto colors = cell_colors(heatmap, ColorMap::blue_orange, false);
    REQUIRE(colors.size() == 6);
    for (Index row = 0; row < 2; ++row) {
        for (Index column = 0; column < 3; ++column) {
            const Rgba expected =
                color_of(heatmap.at(row, column), heatmap.range, heatmap.scale, ColorMap::blue_orange, false);
            CHECK(colors[nth(row * 3 + column)] == expected);
            CHECK(cell_color(heatmap, row, column, ColorMap::blue_orange, false) == expected);
        }
    }
}

TEST_CASE("a masked cell is muted, but NaN shows through any mask") {
    Heatmap heatmap = heatmap_of(1, 3, {-kInfinity, kNan, 0.5F});
    heatmap.hidden = {hidden_by::causal, hidden_by::causal, hidden_by::nothing};
    for (const bool dark : {false, true}) {
        const auto colors = cell_colors(heatmap, ColorMap::blue_orange, dark);
        CHECK(colors[0] == hidden_color(hidden_by::causal, dark));
        CHECK(colors[1] == mark_color(Mark::nan, ColorMap::blue_orange, dark));
        CHECK(colors[2] == color_of(0.5F, {-1, 1}, Scale::diverging, ColorMap::blue_orange, dark));
    }
}

TEST_CASE("a picture of as many pixels as cells is the picture itself") {
    std::mt19937 random(1);
    const Heatmap heatmap = random_heatmap(random);
    const CellRect all{0, 0, heatmap.rows, heatmap.columns};
    CHECK(reduced_colors(heatmap, all, heatmap.rows, heatmap.columns, ColorMap::viridis, true) ==
          cell_colors(heatmap, ColorMap::viridis, true));
}

TEST_CASE("a larger picture repeats its cells") {
    const Heatmap heatmap = heatmap_of(1, 2, {-1, 1});
    const Rgba low = cell_color(heatmap, 0, 0, kMap, false), high = cell_color(heatmap, 0, 1, kMap, false);
    CHECK(reduced_colors(heatmap, {0, 0, 1, 2}, 2, 4, kMap, false) ==
          std::vector<Rgba>{low, low, high, high, low, low, high, high});
}

TEST_CASE("a spike anywhere is seen at any reduction") {
    std::mt19937 random(2);
    std::uniform_int_distribution<Index> side(1, 300);
    for (int trial = 0; trial < 300; ++trial) {
        const Index rows = side(random);
        const Index columns = side(random);
        const Index height = std::uniform_int_distribution<Index>(1, rows)(random);
        const Index width = std::uniform_int_distribution<Index>(1, columns)(random);
        const Index spike = std::uniform_int_distribution<Index>(0, rows * columns - 1)(random);
        for (const float value : {-0.9F, kInfinity, kNan}) {
            Heatmap heatmap = heatmap_of(rows, columns, std::vector<float>(nth(rows * columns), 0.1F));
            heatmap.values[nth(spike)] = value;
            const auto colors = reduced_colors(heatmap, {0, 0, rows, columns}, height, width, kMap, false);
            REQUIRE(colors.size() == nth(height * width));
            const Rgba color = cell_color(heatmap, spike / columns, spike % columns, kMap, false);
            CHECK(std::count(colors.begin(), colors.end(), color) >= 1);
        }
    }
}

TEST_CASE("a pixel has the colour of a cell that lies beneath it, and none beneath it outranks that cell") {
    std::mt19937 random(3);
    for (int trial = 0; trial < 400; ++trial) {
        const Heatmap heatmap = random_heatmap(random);
        const CellRect part = random_part(heatmap, random);
        const Index height = std::uniform_int_distribution<Index>(1, part.rows)(random);
        const Index width = std::uniform_int_distribution<Index>(1, part.columns)(random);
        const auto colors = reduced_colors(heatmap, part, height, width, kMap, true);
        bool right = true;
        for (Index y = 0; y < height; ++y) {
            for (Index x = 0; x < width; ++x) {
                // The colours that the pixel may have: those of its cells that no other of its cells outranks.
                std::vector<Index> beneath;
                for (Index row = 0; row < part.rows; ++row)
                    for (Index column = 0; column < part.columns; ++column)
                        if (covers(y, height, row, part.rows) && covers(x, width, column, part.columns))
                            beneath.push_back((part.row + row) * heatmap.columns + part.column + column);
                right = right && std::ranges::any_of(beneath, [&](Index cell) {
                            const auto outranked = [&](Index other) { return outranks(heatmap, other, cell); };
                            const Rgba color =
                                cell_color(heatmap, cell / heatmap.columns, cell % heatmap.columns, kMap, true);
                            const bool hidden = is_masked(heatmap, cell) && !std::isnan(heatmap.values[nth(cell)]);
                            const bool all_hidden = std::ranges::all_of(beneath, [&](Index other) {
                                return is_masked(heatmap, other) && !std::isnan(heatmap.values[nth(other)]);
                            });
                            const bool may_show = hidden ? all_hidden : std::ranges::none_of(beneath, outranked);
                            return may_show && colors[nth(y * width + x)] == color;
                        });
            }
        }
        CHECK(right);
    }
}

TEST_CASE("a masked fill does not hide the values beside it") {
    Heatmap heatmap = heatmap_of(1, 4, {0.2F, -1e9F, -kInfinity, 0.3F});
    heatmap.hidden = {0, hidden_by::causal, hidden_by::causal, 0};
    const auto color = [&](Index column) { return cell_color(heatmap, 0, column, kMap, false); };
    CHECK(reduced_colors(heatmap, {0, 0, 1, 4}, 1, 2, kMap, false) == std::vector<Rgba>{color(0), color(3)});
    CHECK(reduced_colors(heatmap, {0, 1, 1, 2}, 1, 1, kMap, false) == std::vector<Rgba>{color(1)});
}

TEST_CASE("masks are distinguished by colour and by hatch") {
    for (const bool dark : {false, true}) {
        std::set<std::tuple<int, int, int>> colors;
        std::set<Hatch> hatches;
        for (const std::uint8_t cause :
             {hidden_by::causal, hidden_by::window, hidden_by::padding, hidden_by::custom, hidden_by::hand}) {
            const Rgba color = hidden_color(cause, dark);
            colors.emplace(color.r, color.g, color.b);
            hatches.insert(hatch_of(cause));
            CHECK(std::fabs(luminance(color) - luminance(hatch_color(cause, dark))) > 0.03);
        }
        CHECK(colors.size() == 5);
        CHECK(hatches.size() == 5);
        CHECK(hatches.count(Hatch::none) == 0);
    }
    CHECK(hatch_of(hidden_by::nothing) == Hatch::none);
}

TEST_CASE("two masks on one cell are distinguished from either alone and from any other two") {
    std::set<std::pair<std::uint32_t, Hatch>> looks;
    int kinds = 0;
    for (std::uint8_t first = 1; first <= hidden_by::hand; first = static_cast<std::uint8_t>(first * 2)) {
        for (std::uint8_t second = first; second <= hidden_by::hand; second = static_cast<std::uint8_t>(second * 2)) {
            const auto causes = static_cast<std::uint8_t>(first | second);
            const Rgba color = hidden_color(causes, false);
            looks.emplace(static_cast<std::uint32_t>(color.r << 16 | color.g << 8 | color.b), hatch_of(causes));
            ++kinds;
        }
    }
    CHECK(looks.size() == static_cast<std::size_t>(kinds));
}

TEST_CASE("the strongest cause gives the colour") {
    using namespace hidden_by;
    CHECK(hidden_color(causal | padding, false) == hidden_color(padding, false));
    CHECK(hidden_color(causal | custom, false) == hidden_color(custom, false));
    CHECK(hidden_color(causal | padding | custom | hand, true) == hidden_color(hand, true));
    CHECK(hidden_text(causal) == "causal mask");
    CHECK(hidden_color(window | padding, false) == hidden_color(padding, false));
    CHECK(hidden_text(causal | padding) == "causal + padding mask");
    CHECK(hidden_text(window) == "window mask");
    CHECK(hidden_text(window | padding) == "window + padding mask");
    CHECK(hidden_text(hand) == "masked manually");
}

TEST_CASE("blocks of masked cells cover each masked cell once and with its causes") {
    std::mt19937 random(4);
    for (int trial = 0; trial < 100; ++trial) {
        const Heatmap heatmap = random_heatmap(random);
        std::vector<std::uint8_t> covered(heatmap.values.size(), 0);
        bool apart = true;
        for (const HiddenBlock& block : hidden_blocks(heatmap)) {
            for (Index row = 0; row < block.cells.rows; ++row) {
                for (Index column = 0; column < block.cells.columns; ++column) {
                    const Index offset = (block.cells.row + row) * heatmap.columns + block.cells.column + column;
                    apart = apart && covered[nth(offset)] == 0;
                    covered[nth(offset)] = block.causes;
                }
            }
        }
        CHECK(apart);
        if (!heatmap.hidden.empty()) CHECK(covered == heatmap.hidden);
    }
}

TEST_CASE("a padding mask is one block") {
    Heatmap heatmap = heatmap_of(5, 4, std::vector<float>(20));
    heatmap.hidden.resize(20);
    for (std::size_t row = 0; row < 5; ++row)
        heatmap.hidden[row * 4 + 2] = heatmap.hidden[row * 4 + 3] = hidden_by::padding;
    const auto blocks = hidden_blocks(heatmap);
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].cells == CellRect{0, 2, 5, 2});
}

TEST_CASE("what fills hidden cells is far below all else; large numbers that aren't are none") {
    constexpr float lowest = std::numeric_limits<float>::lowest(), infinite = std::numeric_limits<float>::infinity();
    const auto fill = [](const std::vector<float>& values) { return highest_fill(values); };
    CHECK(fill({1.5F, lowest, -3.0F}) == lowest);
    CHECK(fill({1.5F, -1e9F, -999'999'936.0F}) == -999'999'936.0F);  // added to a score
    CHECK(fill({0.5F, -1e4F, 3.0F}) == -1e4F);
    CHECK_FALSE(fill({0.5F, -9e3F}));
    CHECK_FALSE(fill({20.0F, -1e4F}));           // only five hundred times as large
    CHECK_FALSE(fill({-1e9F, -1e9F}));           // nothing beside it
    CHECK_FALSE(fill({1.5F, 1e9F}));             // a large score hides no cell
    CHECK_FALSE(fill({1.5F, -infinite, 2.0F}));  // which is drawn as what it is
    CHECK_FALSE(fill({}));
    CHECK(fill({1.5F, lowest, std::nanf(""), infinite}) == lowest);
}
