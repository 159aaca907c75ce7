#include "app/core/figure/figure.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "tests/catch.h"
#include "tests/core/figure/figure_parts.h"
#include "tests/core/figure/read_number.h"
#include "tests/engine/not_finite.h"
#include "tests/sanitized.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

std::string index_label(Index i) { return std::to_string(i); }

std::string word_label(Index i) {
    static const std::vector<std::string> words = {"the",
                                                   "a",
                                                   "transformer",
                                                   "<|endoftext|>",
                                                   ",",
                                                   "WWWWWWW",
                                                   "attention",
                                                   "注意力机制",
                                                   "\n",
                                                   " ",
                                                   "🚀🙂",
                                                   "l",
                                                   "antidisestablishmentarianism"};
    return words[at(i) % words.size()];
}

std::string short_label(Index i) { return std::string(1, static_cast<char>('a' + i % 26)); }

std::vector<std::string> labels(Index count, std::string (*label)(Index)) {
    std::vector<std::string> made;
    for (Index i = 0; i < count; ++i) made.push_back(label(i));
    return made;
}

// A heatmap as the program makes it, with waves as values.
Heatmap heatmap_of(Index rows, Index columns, std::string (*label)(Index) = index_label) {
    Heatmap heatmap;
    heatmap.title = "blocks.0.attn.masked_scores";
    heatmap.subtitle = "batch 0, head 1";
    heatmap.row_axis = "query";
    heatmap.column_axis = "key";
    heatmap.rows = rows;
    heatmap.columns = columns;
    heatmap.row_labels = labels(rows, label);
    heatmap.column_labels = labels(columns, label);
    heatmap.values.resize(at(rows * columns));
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) heatmap.values[i] = std::sin(static_cast<float>(i));
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    return heatmap;
}

void mask_causally(Heatmap& heatmap, float fill) {
    heatmap.hidden.assign(heatmap.values.size(), hidden_by::nothing);
    for (Index row = 0; row < heatmap.rows; ++row) {
        for (Index column = row + 1; column < heatmap.columns; ++column) {
            heatmap.hidden[at(row * heatmap.columns + column)] = hidden_by::causal;
            heatmap.values[at(row * heatmap.columns + column)] = fill;
        }
    }
}

std::vector<figure::Text> texts_of(const Figure& figure) { return all_of<figure::Text>(figure); }

int count_of(const Figure& figure, const std::string& text) {
    const auto texts = texts_of(figure);
    return static_cast<int>(
        std::count_if(texts.begin(), texts.end(), [&](const figure::Text& one) { return one.text == text; }));
}

bool overlap(const figure::Box& a, const figure::Box& b) {
    constexpr double slack = 0.01;
    return a.x + slack < b.right() && b.x + slack < a.right() && a.y + slack < b.bottom() && b.y + slack < a.bottom();
}

// The first two texts that overlap; empty if none do.
std::string overlapping(const Figure& figure) {
    const auto texts = texts_of(figure);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
            if (overlap(figure::text_box(texts[i]), figure::text_box(texts[j]))) {
                return "'" + texts[i].text + "' and '" + texts[j].text + "'";
            }
        }
    }
    return "";
}

// The first text that extends beyond the figure; empty if none does.
std::string cut_off(const Figure& figure) {
    for (const figure::Text& text : texts_of(figure)) {
        const figure::Box box = figure::text_box(text);
        const bool inside = box.x >= 0 && box.y >= 0 && box.right() <= figure.width && box.bottom() <= figure.height;
        if (!inside) return "'" + text.text + "'";
    }
    return "";
}

// The cells: the grid that comes first.
figure::CellGrid cells_of(const Figure& figure) { return all_of<figure::CellGrid>(figure).front(); }

// How wide and how high above and below its baseline a font draws a text of size 100.
struct Ink {
    double width = 0, above = 0, below = 0;
};

Ink ink(const std::string& text, const char* family, bool bold) {
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
        cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1), cairo_surface_destroy);
    const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()), cairo_destroy);
    cairo_select_font_face(cairo.get(), family, CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    const std::unique_ptr<cairo_font_options_t, void (*)(cairo_font_options_t*)> options(cairo_font_options_create(),
                                                                                         cairo_font_options_destroy);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(cairo.get(), options.get());
    cairo_set_font_size(cairo.get(), 100);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo.get(), text.c_str(), &extents);
    return {extents.x_advance, -extents.y_bearing, extents.height + extents.y_bearing};
}

}  // namespace

TEST_CASE("no two texts of a figure touch and none is cut off, for any number of labels") {
    for (Index count = 1; count <= 600; count += kSanitized ? 41 : 1) {
        for (const auto label : {index_label, word_label, short_label}) {
            for (const bool wide : {false, true}) {
                const Figure figure = heatmap_figure(wide ? heatmap_of(3, count, label) : heatmap_of(count, 3, label));
                INFO(count << (wide ? " columns" : " rows") << " of labels like " << label(2));
                REQUIRE(overlapping(figure).empty());
                REQUIRE(cut_off(figure).empty());
            }
        }
    }
}

TEST_CASE("no two texts of a square figure touch, with numbers, masks and marks in it") {
    for (const Index count : {1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 16, 17, 20, 21, 24, 32, 48, 64, 100, 257}) {
        for (const auto label : {index_label, word_label}) {
            Heatmap heatmap = heatmap_of(count, count, label);
            mask_causally(heatmap, -kInfinity);
            heatmap.values.back() = kNan;
            heatmap.values.front() = 1e20F;
            if (count > 2) heatmap.hidden[1] = 15;
            if (count > 2) heatmap.hidden[2] = hidden_by::padding | hidden_by::hand;
            for (const bool dark : {false, true}) {
                const Figure figure = heatmap_figure(heatmap, {.dark = dark});
                INFO(count << " × " << count << " with labels like " << label(2));
                CHECK(overlapping(figure).empty());
                CHECK(cut_off(figure).empty());
            }
        }
    }
}

TEST_CASE("long headings and odd ranges neither overlap nor leave the figure") {
    Heatmap heatmap = heatmap_of(1, 1);
    heatmap.title = std::string(500, 'W');
    heatmap.subtitle = std::string(500, 'm');
    heatmap.row_axis = "a long name of an axis";
    heatmap.column_axis = "another long name of an axis";
    for (const Range range : {Range{-1.2345678e-30F, 1.2345678e30F}, Range{0, 1e-38F}, Range{-3e38F, 3e38F},
                              Range{1, std::nextafter(1.0F, 2.0F)}, Range{-1, 1e6F}}) {
        heatmap.range = range;
        const Figure figure = heatmap_figure(heatmap);
        INFO("range from " << range.low << " to " << range.high);
        CHECK(overlapping(figure) == "");
        CHECK(cut_off(figure) == "");
        CHECK(figure.width < 900);
    }
}

TEST_CASE("a text's box holds what the fonts draw") {
    const std::vector<std::string> samples = {"transformer",
                                              "blocks.0.attn.masked_scores",
                                              "WWWWmmmm@@",
                                              "fjil.,;'|()[]",
                                              "−1.234e-9",
                                              "0.00922",
                                              "ÄÖÜßéñçøœ",
                                              "Ждэщю русский",
                                              "Ωμεγα",
                                              "…−∞×",
                                              "The quick brown fox jumps",
                                              "<|endoftext|>"};
    for (const std::string& sample : samples) {
        for (const char* family : {"Inter", "Helvetica", "Arial", "DejaVu Sans", "sans-serif"}) {
            for (const bool bold : {false, true}) {
                const figure::Box box = figure::text_box({sample, 0, 0, 100, {}, {}, bold, false, false});
                const Ink drawn = ink(sample, family, bold);
                INFO(sample << " in " << family);
                CHECK(drawn.width <= box.width);
                CHECK(drawn.above <= -box.y);
                CHECK(drawn.below <= box.bottom());
            }
        }
        for (const char* family : {"JetBrains Mono", "DejaVu Sans Mono", "monospace"}) {
            const figure::Box box = figure::text_box({sample, 0, 0, 100, {}, {}, true, true, false});
            INFO(sample << " in " << family);
            CHECK(ink(sample, family, true).width <= box.width);
        }
    }
}

TEST_CASE("the box of a text turns and moves with it") {
    const figure::Box level = figure::text_box({"query", 50, 80, 10, {}, figure::Anchor::start, false, false, false});
    const figure::Box middle = figure::text_box({"query", 50, 80, 10, {}, figure::Anchor::middle, false, false, false});
    const figure::Box end = figure::text_box({"query", 50, 80, 10, {}, figure::Anchor::end, false, false, false});
    const figure::Box upright = figure::text_box({"query", 50, 80, 10, {}, figure::Anchor::start, false, false, true});
    CHECK(level.x == Approx(50));
    CHECK(middle.x + middle.width / 2 == Approx(50));
    CHECK(end.right() == Approx(50));
    CHECK(upright.bottom() == Approx(80));
    CHECK(upright.height == Approx(level.width));
    CHECK(upright.x == Approx(50 + level.y - 80));
}

TEST_CASE("cells are square where that makes a picture") {
    for (const Index count : {1, 4, 12, 64, 512}) {
        const figure::Box cells = cells_of(heatmap_figure(heatmap_of(count, count))).box;
        CHECK(cells.width == Approx(cells.height));
        CHECK(cells.width <= 1024);
    }
    const figure::Box half = cells_of(heatmap_figure(heatmap_of(16, 32))).box;
    CHECK(half.width == Approx(2 * half.height));
}

TEST_CASE("a sliver is stretched until it can be seen") {
    const figure::Box wide = cells_of(heatmap_figure(heatmap_of(4, 512))).box;
    CHECK(wide.width == Approx(1024));
    CHECK(wide.height >= 100);
    const figure::Box tall = cells_of(heatmap_figure(heatmap_of(64, 1))).box;
    CHECK(tall.width >= 40);
}

TEST_CASE("small figures hold the numbers, large ones do not") {
    Heatmap heatmap = heatmap_of(4, 4);
    heatmap.values[5] = 0.12345F;
    CHECK(count_of(heatmap_figure(heatmap), "0.123") == 1);
    CHECK(count_of(heatmap_figure(heatmap, {.numbers = false}), "0.123") == 0);
    Heatmap large = heatmap_of(64, 64);
    large.values[5] = 0.12345F;
    CHECK(count_of(heatmap_figure(large), "0.123") == 0);
}

TEST_CASE("whole numbers are written without decimals") {
    Heatmap heatmap = heatmap_of(3, 3);
    heatmap.values = {1, 0, 1, 0, 1, 0, 7, 0, 12};
    const Figure figure = heatmap_figure(heatmap);
    CHECK(count_of(figure, "7") == 1);
    CHECK_FALSE(says(figure, "7.00"));
}

TEST_CASE("a number reads on its cell") {
    Heatmap heatmap = heatmap_of(3, 3);
    heatmap.values[0] = -heatmap.range.high;
    const Figure figure = heatmap_figure(heatmap);
    for (const figure::Text& text : texts_of(figure)) {
        const bool is_number = text.monospace && !text.bold;
        if (is_number) CHECK((text.color == Rgba{0, 0, 0, 255} || text.color == Rgba{255, 255, 255, 255}));
    }
    const auto texts = texts_of(figure);
    const std::string lowest = number_text(heatmap.values[0], 3);
    const auto darkest =
        std::find_if(texts.begin(), texts.end(), [&](const figure::Text& text) { return text.text == lowest; });
    REQUIRE(darkest != texts.end());
    CHECK(darkest->color == Rgba{255, 255, 255, 255});
}

TEST_CASE("masked cells are hatched, filled with −∞ where they are, and explained") {
    Heatmap heatmap = heatmap_of(4, 4);
    mask_causally(heatmap, -kInfinity);
    const Figure figure = heatmap_figure(heatmap);
    CHECK(count_of(figure, "−∞") == 6);
    CHECK(count_of(figure, "causal mask: −∞") == 1);
    double hatched = 0;
    for (const auto& hatch : all_of<figure::HatchedRectangle>(figure)) {
        CHECK(hatch.hatch == Hatch::forward);
        if (hatch.box.bottom() <= cells_of(figure).box.bottom() + 0.01) hatched += hatch.box.width * hatch.box.height;
    }
    const figure::Box cells = cells_of(figure).box;
    CHECK(hatched == Approx(cells.width * cells.height * 6 / 16));
}

TEST_CASE("a finite fill is reported, a fill of zero is not") {
    Heatmap filled = heatmap_of(4, 4);
    mask_causally(filled, -1e9F);
    CHECK(count_of(heatmap_figure(filled), "−1e9") == 6);
    CHECK(count_of(heatmap_figure(filled), "causal mask: −1e9") == 1);
    Heatmap zero = heatmap_of(4, 4);
    mask_causally(zero, 0);
    CHECK(count_of(heatmap_figure(zero, {.numbers = false}), "0") == count_of(heatmap_figure(zero), "0") - 1);
    CHECK(count_of(heatmap_figure(zero), "causal mask") == 1);
}

TEST_CASE("the legend names what occurs and nothing else") {
    Heatmap heatmap = heatmap_of(6, 6);
    heatmap.title = "blocks.0.attn.attn_scores";
    const Figure plain = heatmap_figure(heatmap);
    for (const char* word : {"mask", "NaN", "∞", "range", "Each point"}) CHECK_FALSE(says(plain, word));
    heatmap.range = {-0.5F, 0.5F};
    heatmap.values[3] = kNan;
    const Figure marked = heatmap_figure(heatmap);
    CHECK(count_of(marked, "NaN") == 2);  // the cell and the legend
    CHECK(count_of(marked, "above the range (> 0.5)") == 1);
    CHECK(count_of(marked, "below the range (< −0.5)") == 1);
    CHECK_FALSE(says(marked, "∞"));
}

TEST_CASE("a mask that only hides NaN is shown in the legend as its cells are") {
    Heatmap heatmap = heatmap_of(4, 4);
    heatmap.hidden.assign(16, 0);
    for (std::size_t i = 8; i < 12; ++i) {
        heatmap.values[i] = kNan;
        heatmap.hidden[i] = hidden_by::hand;
    }
    const Figure figure = heatmap_figure(heatmap);
    CHECK(count_of(figure, "masked manually: NaN") == 1);
    const auto rectangles = all_of<figure::FilledRectangle>(figure);
    const Rgba nan_color = mark_color(Mark::nan, ColorMap::blue_orange, false);
    CHECK(std::all_of(rectangles.begin(), rectangles.end(), [&](const auto& one) { return one.fill == nan_color; }));
}

TEST_CASE("the colour bar shows the exact range with the map's own colours") {
    Heatmap heatmap = heatmap_of(8, 8);
    heatmap.range = {-0.1234F, 0.8765F};
    const Figure figure = heatmap_figure(heatmap);
    CHECK(count_of(figure, "0.8765") == 1);
    CHECK(count_of(figure, "−0.1234") == 1);
    const auto grids = all_of<figure::CellGrid>(figure);
    REQUIRE(grids.size() == 2);
    const figure::CellGrid& bar = grids[1];
    REQUIRE(bar.columns == 1);
    for (Index step = 0; step < bar.rows; ++step) {
        const double part = (static_cast<double>(bar.rows - step) - 0.5) / static_cast<double>(bar.rows);
        const double value = heatmap.range.low + part * (heatmap.range.high - heatmap.range.low);
        CHECK(bar.colors[at(step)] ==
              color_of(static_cast<float>(value), heatmap.range, heatmap.scale, ColorMap::blue_orange, false));
    }
}

TEST_CASE("every tick stands where its number belongs") {
    for (const Range range : {Range{-0.1234F, 0.8765F}, Range{0, 1}, Range{-2000, 2000}, Range{0, 3.3e-6F}}) {
        for (const bool upright : {true, false}) {
            Heatmap heatmap = upright ? heatmap_of(8, 8) : heatmap_of(1, 8);
            heatmap.range = range;
            heatmap.row_labels.assign(heatmap.row_labels.size(), "r");
            heatmap.column_labels.assign(heatmap.column_labels.size(), "c");
            const Figure figure = heatmap_figure(heatmap, {.numbers = false});
            const figure::Box bar = all_of<figure::CellGrid>(figure)[1].box;
            int ticks = 0;
            for (const figure::Text& text : texts_of(figure)) {
                std::string number = text.text;
                if (number.rfind("−", 0) == 0) number = "-" + number.substr(std::string("−").size());
                char* end = nullptr;
                const double value = std::strtod(number.c_str(), &end);
                if (end == number.c_str() || *end != 0) continue;
                const double part = (value - range.low) / (range.high - range.low);
                const double place = upright ? bar.bottom() - part * bar.height : bar.x + part * bar.width;
                const double stands = upright ? text.y - 0.36 * text.size : text.x;
                CHECK(std::fabs(place - stands) < 0.2);
                ++ticks;
            }
            CHECK(ticks >= 3);
        }
    }
}

TEST_CASE("a very wide heatmap is reduced, says so, and keeps its extremes") {
    Heatmap heatmap = heatmap_of(3, 20000);
    for (float& value : heatmap.values) value *= 0.1F;
    heatmap.range = {-1, 1};
    heatmap.values[31234] = 1;
    const Figure figure = heatmap_figure(heatmap);
    const figure::CellGrid cells = cells_of(figure);
    CHECK(cells.columns == 1024);
    CHECK(cells.rows == 3);
    const Rgba extreme = color_of(1, heatmap.range, heatmap.scale, ColorMap::blue_orange, false);
    CHECK(std::count(cells.colors.begin(), cells.colors.end(), extreme) >= 1);
    CHECK(count_of(figure, "Each point shows the largest magnitude of up to 1 × 20 cells.") == 1);
    CHECK(overlapping(figure).empty());
}

TEST_CASE("a heatmap without cells makes a figure all the same") {
    for (const auto& heatmap : {heatmap_of(0, 5), heatmap_of(5, 0), heatmap_of(0, 0)}) {
        const Figure figure = heatmap_figure(heatmap);
        CHECK(figure.width > 0);
        CHECK(overlapping(figure).empty());
        CHECK(cut_off(figure).empty());
    }
}

TEST_CASE("thinned labels are beside the rows that they name") {
    const Figure figure = heatmap_figure(heatmap_of(100, 100));
    const figure::Box cells = cells_of(figure).box;
    int rows = 0;
    for (const figure::Text& text : texts_of(figure)) {
        if (text.anchor != figure::Anchor::end || text.vertical) continue;
        const double middle = cells.y + (std::stod(text.text) + 0.5) * cells.height / 100;
        CHECK(text.y - 0.36 * text.size == Approx(middle));
        ++rows;
    }
    CHECK(rows >= 10);
}

TEST_CASE("hatch lines stay in their box and go on in the next") {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> place(0, 100);
    for (const Hatch hatch : {Hatch::forward, Hatch::backward, Hatch::cross, Hatch::dots, Hatch::level}) {
        for (int trial = 0; trial < 100; ++trial) {
            const figure::Box box{place(random), place(random), 1 + place(random), 1 + place(random)};
            for (const figure::Segment& s : figure::hatch_segments({box, hatch, {}, 6, 1})) {
                CHECK(std::min(s.x1, s.x2) >= box.x - 1e-9);
                CHECK(std::max(s.x1, s.x2) <= box.right() + 1e-9);
                CHECK(std::min(s.y1, s.y2) >= box.y - 1e-9);
                CHECK(std::max(s.y1, s.y2) <= box.bottom() + 1e-9);
            }
        }
    }
    const auto left = figure::hatch_segments({{0, 0, 50, 20}, Hatch::forward, {}, 6, 1});
    const auto right = figure::hatch_segments({{50, 0, 50, 20}, Hatch::forward, {}, 6, 1});
    const auto leaves = [](const figure::Segment& s) { return s.x2 == Approx(50) && s.y2 > 0.1; };
    REQUIRE(std::any_of(left.begin(), left.end(), leaves));
    for (const figure::Segment& s : left) {
        if (!leaves(s)) continue;
        CHECK(std::any_of(right.begin(), right.end(),
                          [&](const figure::Segment& t) { return t.x1 == Approx(50) && t.y1 == Approx(s.y2); }));
    }
    CHECK(figure::hatch_segments({{0, 0, 50, 20}, Hatch::none, {}, 6, 1}).empty());
}

TEST_CASE("text is made printable") {
    CHECK(printable("plain <&\"> é 注 🚀") == "plain <&\"> é 注 🚀");
    CHECK(printable("a\nb\tc\r") == "a\\nb\\tc\\r");
    CHECK(printable(std::string("\x01 x \x7f")) == "\uFFFD x \uFFFD");
    CHECK(printable("\xE2\x80\xAEgnp") == "\uFFFDgnp");
    CHECK(printable("  ") == "␣␣");
    CHECK(printable("").empty());
    CHECK(printable(printable("a\n\x02 \xFF")) == printable("a\n\x02 \xFF"));
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
    CHECK(valid_utf8("\xFF") == "\uFFFD");
    CHECK(valid_utf8("a\xE2\x82") == "a\uFFFD\uFFFD");
    CHECK(valid_utf8("\xC0\xAF") == "\uFFFD\uFFFD");
    CHECK(valid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
    CHECK(valid_utf8("\xF5\x80\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(valid_utf8("\xF0\x9F\x9A\x80") == "🚀");
}

TEST_CASE("long text is cut between characters") {
    CHECK(elided("query", 10, false, true) == "query");
    const std::string cut = elided("注意力机制注意力机制", 5, false, false);
    CHECK(valid_utf8(cut) == cut);
    CHECK(cut.size() > 3);
    CHECK(cut.substr(cut.size() - 3) == "…");
    for (double width = 2; width < 12; width += 0.5) {
        CHECK(text_width_em(elided("antidisestablishmentarianism", width, false, false), false, false) <= width);
    }
}

TEST_CASE("numbers are written to significant digits") {
    CHECK(number_text(0.5, 3) == "0.500");
    CHECK(number_text(-12.34, 3) == "−12.3");
    CHECK(number_text(0.99996, 3) == "1.00");
    CHECK(number_text(12345.6, 3) == "12346");
    CHECK(number_text(123456, 3) == "1.23e5");
    CHECK(number_text(0.00123, 3) == "0.00123");
    CHECK(number_text(0.000123, 3) == "1.23e-4");
    CHECK(number_text(0, 3) == "0");
    CHECK(number_text(-0.0, 3) == "0");
    CHECK(number_text(kNan, 3) == "NaN");
    CHECK(number_text(-kInfinity, 3) == "−∞");
    CHECK(short_number_text(0.5F, 4) == "0.5");
    CHECK(short_number_text(0.1F, 4) == "0.1");
    CHECK(short_number_text(1, 4) == "1");
    CHECK(short_number_text(0.99999F, 4) == "1.000");
    CHECK(short_number_text(-1e9F, 3) == "−1e9");
    CHECK(short_number_text(std::numeric_limits<float>::denorm_min(), 4) == "1.401e-45");
    CHECK(short_number_text(100, 3) == "100");
}

TEST_CASE("each number in a figure's cells is its cell's, at the digits that it has, or none is there") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> exponent(-12.0, 12.0), near(-3.0, 3.0);
    int with = 0;
    for (int i = 0; i < 400; ++i) {
        const Index count = 2 + i % 9;
        Heatmap heatmap = heatmap_of(count, count);
        for (float& value : heatmap.values)
            value = static_cast<float>((random() % 2 == 0 ? 1.0 : -1.0) *
                                       std::pow(10.0, i % 3 == 0 ? exponent(random) : near(random)));
        if (i % 4 == 0) heatmap.values.front() = kNan;
        heatmap.range = range_of(heatmap.values, heatmap.scale);
        std::vector<std::string> numbers;
        for (const figure::Text& text : all_of<figure::Text>(heatmap_figure(heatmap)))
            if (text.monospace && text.text != heatmap.title) numbers.push_back(text.text);
        if (numbers.empty()) continue;
        ++with;
        REQUIRE(numbers.size() == heatmap.values.size());
        for (std::size_t at = 0; at < heatmap.values.size(); ++at) {
            INFO(heatmap.values[at] << " is written " << numbers[at]);
            REQUIRE(is_its_number(numbers[at], static_cast<double>(heatmap.values[at])));
        }
    }
    CHECK(with > 100);
}

TEST_CASE("a picture of nothing but NaN has a legend that says so, and no scale") {
    Heatmap heatmap = heatmap_of(3, 3);
    std::ranges::fill(heatmap.values, kNan);
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    const Figure figure = heatmap_figure(heatmap);
    CHECK(count_of(figure, "NaN") == 10);  // nine cells and the legend
    CHECK_FALSE(says(figure, "−1"));
    heatmap.values.front() = 0.5F;
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    CHECK(says(heatmap_figure(heatmap), "−0.5"));
}
