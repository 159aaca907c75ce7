// Figures for papers: as wide as asked for, letters of a size, colours, parts that are left out, lines.
#include "app/core/figure/export.h"
#include "app/core/figure/pattern_lines.h"
#include "app/core/figure/picture_files.h"
#include "app/core/run/exhibit_step.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/figure/figure_parts.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <cmath>
#include <random>
#include <sstream>

using namespace decoderscope::testing;

namespace {

constexpr double kCm = 96 / 2.54, kPt = 96.0 / 72;  // in units of a figure

Heatmap random_heatmap(std::mt19937& random, Index rows, Index columns) {
    static const std::vector<std::string> words = {"The", "animal", "didn",    "'t", "cross",
                                                   "the", "street", "because", "it"};
    Heatmap heatmap{
        .title = "blocks.0.attn.pattern", .subtitle = "batch 0, head 1", .row_axis = "query", .column_axis = "key"};
    heatmap.rows = rows;
    heatmap.columns = columns;
    for (Index i = 0; i < rows; ++i) heatmap.row_labels.push_back(words[random() % words.size()]);
    for (Index i = 0; i < columns; ++i) heatmap.column_labels.push_back(words[random() % words.size()]);
    heatmap.scale = Scale::sequential;
    for (Index i = 0; i < rows * columns; ++i)
        heatmap.values.push_back(std::uniform_real_distribution<float>(0, 1)(random));
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    return heatmap;
}

}  // namespace

TEST_CASE("a figure is as wide as asked for, with letters of the size asked for, whatever it shows") {
    std::mt19937 random(11);
    for (int trial = 0; trial < (kSanitized ? 20 : 300); ++trial) {
        const auto upto = [&](Index most) { return std::uniform_int_distribution<Index>(1, most)(random); };
        const Heatmap heatmap = random_heatmap(random, upto(40), upto(40));
        FigureStyle style;
        style.width = std::uniform_real_distribution<double>(8, 40)(random) * kCm;
        const double points = std::uniform_real_distribution<double>(5, 10)(random);
        style.font_size = points * kPt;
        style.title = random() % 2 == 0;
        style.bar = random() % 2 == 0;
        style.numbers = random() % 4 != 0;
        INFO(heatmap.rows << " × " << heatmap.columns << ", " << style.width / kCm << " cm, " << points << " pt");
        const Figure figure = heatmap_figure(heatmap, style);
        CHECK(std::abs(figure.width - style.width) < 0.02);
        CHECK(fault_of(figure) == "");
        for (const figure::Text& text : all_of<figure::Text>(figure))
            if (text.monospace && !text.bold) CHECK(text.size > 4.99 * kPt);  // numbers in cells: legible, or none
        const auto labels = all_of<figure::Text>(figure);
        CHECK(std::ranges::any_of(
            labels, [&](const figure::Text& text) { return std::abs(text.size - style.font_size) < 1e-6; }));
    }
}

TEST_CASE("grids of heads, operands and curves are as wide as asked for, too") {
    const ShownRun shown = shown_run("reverse");
    const Step& pattern = step_of(shown, "blocks.0.attn.pattern");
    for (const Exhibit& exhibit : {gathered_exhibit(shown, pattern, {}, {.all_heads = true}),
                                   gathered_exhibit(shown, pattern, {}, {.all_heads = true, .all_layers = true}),
                                   step_exhibit(shown, pattern, {}, true)})
        for (const double cm : {12.0, 17.5, 30.0}) {
            FigureStyle style;
            style.width = cm * kCm;
            style.font_size = 6 * kPt;
            INFO(exhibit.title << " at " << cm);
            const Figure figure = exhibit_figure(exhibit, style);
            CHECK(std::abs(figure.width - style.width) < 0.02);
            CHECK(fault_of(figure) == "");
            CHECK_FALSE(figure.said.empty());
        }
}

TEST_CASE("a figure that can't be so narrow says how wide it must be") {
    std::mt19937 random(3);
    FigureStyle style;
    style.width = 1 * kCm;
    const std::string said =
        error_of([&] { static_cast<void>(heatmap_figure(random_heatmap(random, 12, 12), style)); });
    CHECK(contains(said, "1 cm is too narrow for this figure, expected at least "));
}

TEST_CASE("a part that isn't wanted isn't drawn") {
    const ShownRun shown = shown_run("words");
    const Exhibit exhibit = step_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {});
    const auto drawn = [&](const auto& change) {
        FigureStyle style;
        change(style);
        return exhibit_figure(exhibit, style);
    };
    const Figure all = drawn([](FigureStyle&) {});
    const auto grids = [](const Figure& figure) { return all_of<figure::CellGrid>(figure).size(); };
    REQUIRE(grids(all) == 2);  // the cells and the bar
    CHECK(grids(drawn([](FigureStyle& style) { style.bar = false; })) == 1);
    CHECK(says(all, "blocks.0.attn.pattern"));
    CHECK_FALSE(says(drawn([](FigureStyle& style) { style.title = style.notes = false; }), "blocks.0.attn.pattern"));
    CHECK(says(all, "no edits"));
    CHECK_FALSE(says(drawn([](FigureStyle& style) { style.notes = false; }), "no edits"));
}

TEST_CASE("one map colours every heatmap, by its own law") {
    std::mt19937 random(5);
    Heatmap heatmap = random_heatmap(random, 6, 6);
    heatmap.title = "t";
    for (const ColorMap map : {ColorMap::blues, ColorMap::greys}) {
        FigureStyle style;
        style.map = map;
        for (const Scale scale : {Scale::sequential, Scale::diverging}) {
            heatmap.scale = scale;
            heatmap.range = range_of(heatmap.values, scale);
            const figure::CellGrid cells = all_of<figure::CellGrid>(heatmap_figure(heatmap, style)).front();
            for (std::size_t i = 0; i < heatmap.values.size(); ++i)
                for (std::size_t j = 0; j < heatmap.values.size(); ++j)
                    if (heatmap.values[i] > heatmap.values[j] + 0.02F)
                        REQUIRE(luminance(cells.colors[i]) < luminance(cells.colors[j]));  // the more, the darker
        }
    }
    FigureStyle style;
    style.map = ColorMap::blue_orange;
    heatmap.scale = Scale::sequential;
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    const figure::CellGrid cells = all_of<figure::CellGrid>(heatmap_figure(heatmap, style)).front();
    for (std::size_t i = 0; i < heatmap.values.size(); ++i)
        CHECK(cells.colors[i] ==
              color_of(heatmap.values[i], heatmap.range, Scale::diverging, ColorMap::blue_orange, false));
}

TEST_CASE("lines run from each query to the keys that it looks at, and nothing but an attention has them") {
    const ShownRun shown = shown_run("words");
    FigureStyle style;
    style.lines = true;
    const Exhibit exhibit = step_exhibit(shown, step_of(shown, "blocks.1.attn.pattern"), {0, 2});
    const Heatmap pattern = exhibit.panels.front().heatmap();
    const Figure figure = exhibit_figure(exhibit, style);
    const PatternLines lines = pattern_lines(pattern);
    const auto drawn = all_of<figure::Polyline>(figure);
    CHECK(std::ssize(drawn) ==
          std::ranges::count_if(pattern.values, [&](float weight) { return weight > lines.least; }));
    CHECK(all_of<figure::CellGrid>(figure).empty());
    CHECK(fault_of(figure) == "");
    for (std::size_t i = 1; i < drawn.size(); ++i) CHECK(drawn[i].width >= drawn[i - 1].width);  // the largest on top
    style.width = 8.5 * kCm;
    style.font_size = 7 * kPt;
    const Figure narrow = exhibit_figure(exhibit, style);
    CHECK(std::abs(narrow.width - style.width) < 0.02);
    CHECK(fault_of(narrow) == "");
    // Of several heads each has its own name, and what all have in common is said once.
    const Exhibit heads = gathered_exhibit(shown, step_of(shown, "blocks.1.attn.pattern"), {}, {.all_heads = true});
    style.width = 17 * kCm;
    for (const bool titled : {true, false}) {
        style.title = titled;
        const Figure all = exhibit_figure(heads, style);
        CHECK(fault_of(all) == "");
        for (const Panel& panel : heads.panels) {
            INFO(panel.label);
            CHECK(std::ranges::count(all_of<figure::Text>(all), panel.label, &figure::Text::text) == 1);
        }
    }
    const Exhibit others = step_exhibit(shown, step_of(shown, "blocks.1.mlp.post"), {});
    CHECK(contains(error_of([&] { static_cast<void>(exhibit_figure(others, style)); }),
                   "blocks.1.mlp.post: isn't an attention's weights"));
}

TEST_CASE("the command line's options make what the window's choices make, byte for byte") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run("words");
    const Exhibit exhibit = step_exhibit(shown, step_of(shown, "blocks.1.attn.pattern"), {0, 2});
    ExportOptions options;
    options.style.width = width_from("8.5cm");
    options.style.font_size = font_size_from("7pt");
    options.style.map = ColorMap::blues;
    options.style.title = options.style.notes = false;
    options.crop = crop_from("1:4,1:4");
    options.scale = 300.0 / 96;
    for (const char* ending : {".svg", ".pdf", ".png", ".csv"}) {
        export_exhibit(exhibit, folder.file(std::string("ours") + ending), options);
        std::vector<std::string> words = {"export", "words", "--tensor", "blocks.1.attn.pattern", "--head", "2"};
        std::istringstream said(command_options(options));
        for (std::string word; said >> word;) words.push_back(word);
        words.insert(words.end(), {"--out", folder.file(std::string("theirs") + ending)});
        INFO(ending << command_options(options));
        CHECK(run(words).status == 0);
        CHECK(read_bytes(folder.file(std::string("theirs") + ending)) ==
              read_bytes(folder.file(std::string("ours") + ending)));
    }
    // 8.5 cm at 300 pixels per inch, as the PNG's header says it.
    const std::string png = read_bytes(folder.file("ours.png"));
    const auto big = [&](std::size_t at) {
        int number = 0;
        for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(png[at + i]);
        return number;
    };
    CHECK(std::abs(big(16) - static_cast<int>(std::ceil(8.5 / 2.54 * 300))) <= 1);
}

TEST_CASE("lengths and colours that can't be read are refused with what was expected") {
    CHECK(std::abs(width_from("3.35in") - 3.35 * 96) < 1e-9);
    CHECK(std::abs(font_size_from("7") - 7 * kPt) < 1e-9);
    for (const char* nonsense : {"", "cm", "8.5", "8,5cm", "-1cm", "0cm", "8.5mm", "1e9cm", "nancm", "8.5 cm", "infin"})
        CHECK(contains(error_of([&] { static_cast<void>(width_from(nonsense)); }), "expected a width"));
    for (const char* nonsense : {"", "pt", "7px", "0", "1000pt", "nan", "-7pt"})
        CHECK(contains(error_of([&] { static_cast<void>(font_size_from(nonsense)); }), "expected a size of type"));
    CHECK(contains(error_of([&] { static_cast<void>(color_map_from("jet")); }), "expected one of viridis"));
}
