// Pictures of so many cells that they are read by tiles: what is shown of them is true at any time, and in the end that
// of a run that keeps everything.
#include "app/core/run/step_picture.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "app/core/tabs/step/tiles.h"
#include "engine/decoder/initial_weights.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

constexpr Index kTokens = 2100;  // patterns of 4.4 million cells

Scenario long_scenario(const std::string& more = "") {
    Model model{{.name = "long"},
                R"({"model_type": "decoderscope", "d_model": 16, "nhead": 2, "num_layers": 1,
        "vocab_size": 50, "norm_first": true)" +
                    more + "}"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens(kTokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<float>(i * i * 7 % 50);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, kTokens}}, tokens);
    return scenario_of(std::make_shared<const Model>(std::move(model)));
}

// A scenario's run that keeps as little as possible, as it is shown.
Snapshot kept_little(const Scenario& scenario) {
    Snapshot shown;
    shown.scenario = scenario;
    const auto plan = plan_of(scenario);
    shown.run = execute(plan, {.kept = kept_of(*plan, Recording::fit, 0).in_a_run()});
    shown.unedited = shown.run;
    return shown;
}

// Frames until there is nothing better.
ShownTile final_tile(Derived& derived, const Snapshot& shown, const Step& step, Place place, const CellRect& seen) {
    Value<ShownTile> tile;
    do {
        derived.next_frame();
        tile = shown_tile(derived, shown, step, place, seen);
        derived.finish();
    } while (derived.waiting());
    return *tile;
}

// Each block has the colour of one pixel that shows its cells.
bool is_same_picture(const Heatmap& blocks, const Heatmap& whole, const Tile& tile) {
    const CellRect& all = tile.cells;
    for (Index row = 0; row < blocks.rows; ++row)
        for (Index column = 0; column < blocks.columns; ++column) {
            CellRect block = {all.row + row * tile.rows_each, all.column + column * tile.columns_each, 0, 0};
            block.rows = std::min(tile.rows_each, all.row + all.rows - block.row);
            block.columns = std::min(tile.columns_each, all.column + all.columns - block.column);
            if (cell_color(blocks, row, column, ColorMap::viridis, true) !=
                reduced_colors(whole, block, 1, 1, ColorMap::viridis, true).front())
                return false;
        }
    return true;
}

}  // namespace

TEST_CASE("a tile shows the strongest of each block, as a picture of a run that keeps all does") {
    const auto more = GENERATE(std::string(), std::string(R"(, "attention_sinks": true, "sliding_window": 900)"));
    const Snapshot shown = kept_little(long_scenario(more));
    const auto all = execute(shown.run->shared_plan());
    Derived derived;
    std::size_t by_tiles = 0;
    for (const Step& step : shown.run->plan().steps()) {
        if (shown.run->value(step.id).empty() || step.axes.size() < 2) continue;
        const Place place = {0, 1};
        if (!comes_by_tiles(*shown.run, step, slice_of(step, place, 2))) continue;
        ++by_tiles;
        INFO(step.name);
        const Heatmap whole = picture_of(shown.scenario, *all, step, place);
        const CellRect everything = {0, 0, whole.rows, whole.columns};
        const ShownTile reduced = final_tile(derived, shown, step, place, everything);
        CHECK(reduced.tile.cells == everything);
        CHECK(reduced.all_rows);
        CHECK_FALSE(reduced.tile.is_exact());
        CHECK(reduced.heatmap.range == whole.range);
        CHECK(is_same_picture(reduced.heatmap, whole, reduced.tile));
        const ShownTile zoomed = final_tile(derived, shown, step, place, {1500, 1300, 200, 300});
        CHECK(zoomed.tile.is_exact());
        CHECK(zoomed.note.empty());
        CHECK(zoomed.tile.cells.rows < 500);
        CHECK(is_same_picture(zoomed.heatmap, whole, zoomed.tile));
        CHECK(zoomed.heatmap.at(3, 5) == whole.at(zoomed.tile.cells.row + 3, zoomed.tile.cells.column + 5));
        CHECK_FALSE(shown.run->value(step.id).is_ready());
    }
    CHECK(by_tiles >= 3);
}

TEST_CASE("before all rows are read a tile shows some of them, which are true, and says so") {
    const Snapshot shown = kept_little(long_scenario());
    const auto all = execute(shown.run->shared_plan());
    const Ref pattern = shown.run->plan().find("blocks.0.attn.pattern");
    const Heatmap whole = picture_of(shown.scenario, *all, *pattern, {0, 1});
    Derived derived;
    Value<ShownTile> first;
    while (!first) {
        derived.next_frame();
        first = shown_tile(derived, shown, *pattern, {0, 1}, {0, 0, kTokens, kTokens});
        derived.finish();
    }
    CHECK_FALSE(first->all_rows);
    CHECK(first->note.english() == "1 of 16 rows, all are being read");
    REQUIRE(first->tile.rows_each == 16);
    for (Index row = 0; row < first->heatmap.rows; ++row)
        for (Index column = 0; column < first->heatmap.columns; ++column) {
            float strongest = 0.0F;
            for (Index i = 0; i < first->tile.columns_each; ++i)
                if (const Index at = column * first->tile.columns_each + i; at < kTokens)
                    strongest = std::max(strongest, whole.at(row * 16, at));
            if (first->heatmap.at(row, column) != strongest) FAIL_CHECK(row << ", " << column);
        }
}

TEST_CASE(
    "the small pictures of all heads of such a pattern are made of its first rows, in the range that they share") {
    const Snapshot shown = kept_little(long_scenario());
    const Step& pattern = *shown.run->plan().find("blocks.0.attn.pattern");
    const PixelsWanted wanted{.each = {60, 60}, .heads = 2, .across = 2, .place = {0}, .range = Range{0.0F, 0.5F}};
    Derived derived;
    Value<Pixels> pixels;
    while (!pixels) {
        derived.next_frame();
        pixels = shown_pixels(derived, shown, pattern, wanted);
        derived.finish();
    }
    CHECK_FALSE(shown.run->value(pattern.id).is_ready());
    CHECK(note_of_small_picture(*shown.run, pattern, slice_of(pattern, {0, 0}, 2)).english() ==
          "the small picture shows 1 of 16 rows");
    for (Index head = 0; head < 2; ++head) {
        Value<ShownTile> first;
        while (!first) {
            derived.next_frame();
            first = shown_tile(derived, shown, pattern, {0, head}, {0, 0, kTokens, kTokens});
            derived.finish();
        }
        Heatmap blocks = first->heatmap;
        blocks.range = *wanted.range;
        const std::vector<Rgba> expected =
            reduced_colors(blocks, {0, 0, blocks.rows, blocks.columns}, 60, 60, ColorMap::viridis, true);
        for (std::size_t row = 0; row < 60; ++row)
            CHECK(std::equal(expected.begin() + static_cast<std::ptrdiff_t>(row * 60),
                             expected.begin() + static_cast<std::ptrdiff_t>(row * 60 + 60),
                             pixels->colors.begin() + static_cast<std::ptrdiff_t>((row * 2) * 60) + head * 60));
    }
}

TEST_CASE("what an open head shows of a pattern that comes by tiles is read by rows") {
    const auto more = GENERATE(std::string(), std::string(R"(, "attention_sinks": true)"));
    const Snapshot shown = kept_little(long_scenario(more));
    const auto all = execute(shown.run->shared_plan());
    const Step& pattern = *shown.run->plan().find("blocks.0.attn.pattern");
    const Place place = {0, 1};
    const Heatmap whole = picture_of(shown.scenario, *all, pattern, place);
    Derived derived;
    const auto card = shown_card(derived, shown, pattern, place);
    CHECK(card->heatmap.values.empty());
    CHECK(card->heatmap.column_labels == whole.column_labels);
    const auto in_the_end = [&](const auto& ask) {
        for (auto value = ask();; value = ask()) {
            if (value) return value;
            derived.finish();
            derived.next_frame();
        }
    };
    const auto lines = in_the_end([&] { return heads::shown_pattern_lines(derived, shown, pattern, place); });
    const PatternLines expected = pattern_lines(whole);
    CHECK(lines->least == expected.least);
    CHECK(lines->largest == expected.largest);
    CHECK(lines->leaves_out == expected.leaves_out);
    REQUIRE(lines->lines.size() == expected.lines.size());
    CHECK(std::ranges::equal(lines->lines, expected.lines, [](const auto& a, const auto& b) {
        return a.query == b.query && a.key == b.key && a.weight == b.weight;
    }));
    CHECK(std::ssize(lines->lines) <= 4 * whole.columns);
    const std::vector<float> row = shown_row(derived, shown, pattern, place, 1700)->numbers;
    CHECK(std::equal(row.begin(), row.end(), whole.values.begin() + 1700 * whole.columns));
    CHECK(std::ssize(row) == whole.columns);
    for (const Index key : {Index{900}, whole.columns - 1}) {
        const auto on_key = in_the_end([&] { return heads::shown_weights_on(derived, shown, pattern, place, key); });
        REQUIRE(std::ssize(on_key->weights) == whole.rows);
        for (Index query = 0; query < whole.rows; query += 7)
            CHECK(on_key->weights[static_cast<std::size_t>(query)] == whole.at(query, key));
    }
    CHECK_FALSE(shown.run->value(pattern.id).is_ready());
}

TEST_CASE("a zoomed tile marks the cells that an edit changed") {
    Scenario scenario = long_scenario();
    Snapshot shown = kept_little(scenario);
    scenario.edits = {MaskEdit{"blocks.0.attn", 0, 1, 1600, 20, false}};
    const Snapshot edited = kept_little(scenario);
    shown.scenario = scenario;
    shown.run = edited.run;
    const Ref pattern = shown.run->plan().find("blocks.0.attn.pattern");
    Derived derived;
    const ShownTile tile = final_tile(derived, shown, *pattern, {0, 1}, {1590, 0, 20, 30});
    CHECK(tile.changed_at(1600, 20));
    CHECK(tile.changed_at(1600, 21));
    CHECK_FALSE(tile.changed_at(1601, 20));
    CHECK_FALSE(tile.changed_at(1600, 1601));  // hidden before and after
}
