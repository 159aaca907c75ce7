#include "app/core/figure/figure_cells.h"

#include "app/core/figure/cell_text.h"
#include "app/core/figure/colormap.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "engine/base/translate.h"

#include <cmath>
#include <functional>
#include <vector>

namespace decoderscope::core::figure {

namespace {

constexpr double entry_height = 20, swatch_width = 20, swatch_height = 13;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string mark_entry(Mark mark, const std::optional<Range>& range) {
    const std::string text(mark_text(mark));
    if (mark == Mark::above && range) return text + " (> " + short_number_text(range->high, 4) + ")";
    if (mark == Mark::below && range) return text + " (< " + short_number_text(range->low, 4) + ")";
    return text;
}

// Places the entries of the legend one after the other, line by line.
class Legend {
public:
    Legend(Canvas& canvas, double left, double right)
        : canvas_(canvas), left_(left), right_(right), x_(left), y_(canvas.bottom() + 14) {}

    // Puts a swatch with its text at the next place; returns the swatch's box.
    Box add(const std::string& text, Rgba color) {
        const double width = swatch_width + 6 + label_size * text_width_em(text, false, false);
        make_room(width);
        const Box swatch{x_, y_, swatch_width, swatch_height};
        canvas_.put(FilledRectangle{swatch, color});
        canvas_.put(text_at(text, swatch.right() + 6, baseline(), {label_size, canvas_.inks().text}));
        x_ += width + 18;
        return swatch;
    }

    void add_note(const std::string& text) {
        make_room(1e9);
        canvas_.put(text_at(text, x_, baseline(), {label_size, canvas_.inks().quiet}));
    }

private:
    [[nodiscard]] double baseline() const { return y_ + swatch_height / 2 + half_capital * label_size; }

    void make_room(double width) {
        if (x_ == left_ || x_ + width <= right_) return;
        x_ = left_;
        y_ += entry_height;
    }

    Canvas& canvas_;
    double left_, right_, x_, y_;
};

// Colours from the range's low end to its high end, each for the value at its middle.
std::vector<Rgba> bar_colors(const ColorBar& bar) {
    constexpr std::size_t count = 255;
    std::vector<Rgba> colors(count);
    const double low = bar.range.low, span = bar.range.high - low;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = low + span * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
        colors[i] = color_of(static_cast<float>(value), bar.range, bar.scale, bar.map, bar.dark);
    }
    return colors;
}

double part_of_range(const Range& range, double value) {
    const double low = range.low;
    return (value - low) / (range.high - low);
}

constexpr double length_of_a_step = 64;
constexpr double label_gap = 4;

// The smallest of 1, 2 and 5 times a power of ten that is not below this.
double round_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) return factor * power;
    }
    return 10 * power;
}

// One tick of a colour bar: its place on the range, and its text.
struct Tick {
    double value = 0;
    std::string text;
};

Tick tick_at(double value) { return {value, short_number_text(value, 4)}; }

// The box of a block of cells in a picture with this many rows and columns.
Box box_of(const Box& box, Index rows, Index columns, const CellRect& cells) {
    const double width = box.width / static_cast<double>(columns), height = box.height / static_cast<double>(rows);
    return {box.x + static_cast<double>(cells.column) * width, box.y + static_cast<double>(cells.row) * height,
            static_cast<double>(cells.columns) * width, static_cast<double>(cells.rows) * height};
}

// What hides the cells, on a raster whose cells are all large enough to be hatched: each takes its cause from the cell
// at its middle.
Heatmap hatching_raster(const PlacedHeatmap& placed) {
    constexpr double least = 1.5;
    const auto fitting = [](double length, Index cells) {
        return std::clamp<Index>(static_cast<Index>(length / least), 1, std::max<Index>(cells, 1));
    };
    const Heatmap& heatmap = placed.heatmap;
    Heatmap raster{.rows = fitting(placed.box.height, heatmap.rows),
                   .columns = fitting(placed.box.width, heatmap.columns)};
    if (heatmap.hidden.empty()) return raster;
    for (Index row = 0; row < raster.rows; ++row)
        for (Index column = 0; column < raster.columns; ++column) {
            const Index y = (2 * row + 1) * heatmap.rows / (2 * raster.rows),
                        x = (2 * column + 1) * heatmap.columns / (2 * raster.columns);
            raster.hidden.push_back(heatmap.hidden[static_cast<std::size_t>(y * heatmap.columns + x)]);
        }
    return raster;
}

void draw_grid_lines(Canvas& canvas, const PlacedHeatmap& placed) {
    const Box& box = placed.box;
    for (Index row = 1; row < placed.heatmap.rows; ++row) {
        const double y = box.y + static_cast<double>(row) * placed.cell.height;
        canvas.line(box.x, y, box.right(), y, canvas.inks().background);
    }
    for (Index column = 1; column < placed.heatmap.columns; ++column) {
        const double x = box.x + static_cast<double>(column) * placed.cell.width;
        canvas.line(x, box.y, x, box.bottom(), canvas.inks().background);
    }
}

// ---- the numbers

std::uint8_t causes_at(const Heatmap& heatmap, Index row, Index column) {
    return heatmap.hidden.empty() ? hidden_by::nothing
                                  : heatmap.hidden[static_cast<std::size_t>(row * heatmap.columns + column)];
}

// A masked cell shows its fill; a zero is expected and left out.
std::string number_in(const Heatmap& heatmap, Index row, Index column, bool whole) {
    if (!heatmap.texts.empty()) return heatmap.texts[static_cast<std::size_t>(row * heatmap.columns + column)];
    const float value = heatmap.at(row, column);
    const bool masked = hidden_by::masked(causes_at(heatmap, row, column));
    if (masked && value == 0.0F) return "";
    return masked || whole ? short_number_text(value, 3) : number_text(value, 3);
}

// Room around a number on a hatch.
Box halo(const Text& text) {
    const Box box = text_box(text);
    return {box.x - 1, text.y - 0.86 * text.size, box.width + 2, text.size};
}

void draw_number(Canvas& canvas, const PlacedHeatmap& placed, Index row, Index column, const std::string& number,
                 Face face, double beside = 6) {
    if (number.empty()) return;
    const Rgba ground = cell_color(placed.heatmap, row, column, placed.map, placed.dark);
    face.color = text_color_on(ground);
    const Text text =
        text_at(elided(number, (placed.cell.width - beside) / face.size, face.bold, face.monospace),
                placed.column_middle(column), placed.row_middle(row) + half_capital * face.size, face, Anchor::middle);
    if (causes_at(placed.heatmap, row, column) != hidden_by::nothing) canvas.put(FilledRectangle{halo(text), ground});
    canvas.put(text);
}

// An ∞ is drawn in the proportional face, since a monospaced one is too small to see, and as large as fits, whatever
// size the numbers have.
void draw_infinity(Canvas& canvas, const PlacedHeatmap& placed, Index row, Index column, const std::string& text) {
    const double size = std::min(13.0, (placed.cell.width - 8) / text_width_em(text, false, false));
    if (size >= 8) draw_number(canvas, placed, row, column, text, {size, {}, false, false});
}

// The largest size at which every number fits into its cell; words are shortened instead of becoming tiny.
double size_of_numbers(const PlacedHeatmap& placed, bool whole) {
    if (placed.cell.width < 30) return 0;
    double widest = 0.61;
    for (Index row = 0; row < placed.heatmap.rows; ++row)
        for (Index column = 0; column < placed.heatmap.columns; ++column)
            widest = std::max(widest, text_width_em(number_in(placed.heatmap, row, column, whole), false, true));
    const double size = std::min(12.0, (placed.cell.width - 9) / widest);
    return placed.heatmap.texts.empty() ? size : std::max(size, 9.0);
}

// The ticks of a bar that is `length` long, from low to high: the ends of the range, to four significant digits, and
// round numbers between them where they do not touch. `room_of` returns how much of the length a text takes.
std::vector<Tick> ticks(Range range, double length, const std::function<double(const std::string&)>& room_of) {
    const double low = range.low;
    const double high = range.high;
    const double per_unit = length / (high - low);
    const auto touch = [&](const Tick& a, const Tick& b) {
        return (b.value - a.value) * per_unit < (room_of(a.text) + room_of(b.text)) / 2 + label_gap;
    };
    const double step = round_step(length_of_a_step / per_unit);
    const Tick last = tick_at(high);
    std::vector<Tick> found = {tick_at(low)};
    for (double k = std::ceil(low / step); k * step < high; ++k) {
        const Tick tick = tick_at(k * step);
        if (!touch(found.back(), tick) && !touch(tick, last)) found.push_back(tick);
    }
    found.push_back(last);
    return found;
}

// Vertical, the high end at the top, the numbers on its right.
void draw_upright_bar(Canvas& canvas, const ColorBar& bar, const Box& box) {
    std::vector<Rgba> colors = bar_colors(bar);
    std::reverse(colors.begin(), colors.end());
    const auto steps = static_cast<Index>(colors.size());
    canvas.put(CellGrid{box, steps, 1, std::move(colors)});
    canvas.frame(box);
    const Face face{label_size, canvas.inks().text};
    for (const Tick& tick : ticks(bar.range, box.height, [](const std::string&) { return line_height; })) {
        const double y = box.bottom() - part_of_range(bar.range, tick.value) * box.height;
        canvas.line(box.right(), y, box.right() + 4, y, canvas.inks().line);
        canvas.put(text_at(tick.text, box.right() + 8, y + half_capital * label_size, face));
    }
}

// Horizontal, the numbers below it.
void draw_level_bar(Canvas& canvas, const ColorBar& bar, const Box& box) {
    std::vector<Rgba> colors = bar_colors(bar);
    const auto steps = static_cast<Index>(colors.size());
    canvas.put(CellGrid{box, 1, steps, std::move(colors)});
    canvas.frame(box);
    const Face face{label_size, canvas.inks().text};
    const auto width = [](const std::string& text) { return label_size * text_width_em(text, false, false); };
    for (const Tick& tick : ticks(bar.range, box.width, width)) {
        const double x = box.x + part_of_range(bar.range, tick.value) * box.width;
        canvas.line(x, box.bottom(), x, box.bottom() + 4, canvas.inks().line);
        canvas.put(text_at(tick.text, x, box.bottom() + 17, face, Anchor::middle));
    }
}

// The face of an axis name: queries and keys have their own colours here too.
Face axis_face(const std::string& name, const Inks& inks) {
    for (const Meaning meaning : {Meaning::query, Meaning::key})
        if (name == meaning_name(meaning))
            return {axis_name_size, readable_on(meaning_color(meaning), inks.background), true};
    return {axis_name_size, inks.quiet, true};
}

}  // namespace

ColorMap take_colors(Heatmap& heatmap, const FigureStyle& style) {
    if (style.map) heatmap.scale = *style.map == ColorMap::blue_orange ? Scale::diverging : Scale::sequential;
    return style.map.value_or(heatmap.scale == Scale::sequential ? style.sequential : style.diverging);
}

void LegendContents::add(const Heatmap& heatmap) {
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) {
        const float value = heatmap.values[i];
        const std::uint8_t causes = heatmap.hidden.empty() ? hidden_by::nothing : heatmap.hidden[i];
        if (causes != hidden_by::nothing) {
            MaskKind& kind = masks_.try_emplace(causes, MaskKind{causes, value}).first->second;
            if (kind.fill && !same(*kind.fill, value)) kind.fill.reset();
        }
    }
    for (const Mark mark : marks_in(heatmap).marks) marks_.insert(mark);
}

void draw_legend(Canvas& canvas, const LegendContents& contents, const LegendStyle& style, double left, double right,
                 const std::string& note) {
    Legend legend(canvas, left, right);
    for (const auto& [causes, kind] : contents.masks()) {
        // Coloured like its cells: if they all hold NaN, the swatch shows NaN.
        const bool all_nan = kind.fill && std::isnan(*kind.fill);
        const Rgba color = all_nan ? mark_color(Mark::nan, style.map, style.dark) : hidden_color(causes, style.dark);
        const Box swatch = legend.add(filled_text(kind.causes, kind.fill), color);
        draw_hatch(canvas, swatch, causes, style.spacing, style.dark);
        canvas.frame(swatch);
    }
    for (const Mark mark : contents.marks())
        canvas.frame(legend.add(mark_entry(mark, style.range), mark_color(mark, style.map, style.dark)));
    if (!note.empty()) legend.add_note(note);
}

void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left, const Page& page) {
    constexpr double least_height = 112, usual_part = 0.7;
    const double height = page.is_asked() ? usual_part * page.width * cells.height / cells.width : cells.height;
    if (height >= least_height) {
        draw_upright_bar(canvas, bar, {cells.right() + 20, cells.y, 12, cells.height});
        return;
    }
    // Aligned with the cells' left edge, unless the text at the bar's low end needs more room to its left.
    const double half = label_size * text_width_em(short_number_text(bar.range.low, 4), false, false) / 2;
    const double start = std::max(cells.x, left + half);
    draw_level_bar(canvas, bar, {start, cells.bottom() + 16, std::clamp(cells.width, 160.0, 320.0), 12});
}

double hatch_spacing(const PlacedHeatmap& placed) { return std::clamp(placed.smaller_side() / 2, 4.0, 7.0); }

void draw_note_marks(Canvas& canvas, const PlacedHeatmap& placed) {
    constexpr double radius = 5.5, size = 8;
    const Inks& inks = canvas.inks();
    for (std::size_t i = 0; i < placed.heatmap.notes.size(); ++i) {
        const NotedCell& note = placed.heatmap.notes[i];
        const double inside = std::min(radius, placed.smaller_side() / 2);
        const Point center = note.column ? Point{placed.column_middle(*note.column) + placed.cell.width / 2 - inside,
                                                 placed.row_middle(note.row) - placed.cell.height / 2 + inside}
                                         : Point{placed.box.x, placed.row_middle(note.row)};
        canvas.put(Circle{center, radius, inks.background, inks.text, 0.75});
        canvas.put(text_at(std::to_string(i + 1), center.x, center.y + half_capital * size, {size, inks.text, true},
                           Anchor::middle));
    }
}

void draw_hatch(Canvas& canvas, const Box& box, std::uint8_t causes, double spacing, bool dark) {
    canvas.put(HatchedRectangle{box, hatch_of(causes), hatch_color(causes, dark), spacing, 0.9});
}

void draw_cells(Canvas& canvas, const PlacedHeatmap& placed) {
    const Heatmap& heatmap = placed.heatmap;
    if (heatmap.rows > 0 && heatmap.columns > 0) {
        const CellRect all{0, 0, heatmap.rows, heatmap.columns};
        const Index rows = placed.drawn_rows(), columns = placed.drawn_columns();
        canvas.put(
            CellGrid{placed.box, rows, columns, reduced_colors(heatmap, all, rows, columns, placed.map, placed.dark)});
    }
    const Heatmap raster = hatching_raster(placed);
    for (const HiddenBlock& block : hidden_blocks(raster))
        draw_hatch(canvas, box_of(placed.box, raster.rows, raster.columns, block.cells), block.causes,
                   hatch_spacing(placed), placed.dark);
    if (placed.smaller_side() >= 16) draw_grid_lines(canvas, placed);
    canvas.frame(placed.box);
}

// In cells whose size was asked for, as the window writes them: with as many digits as are well read, or with few and
// small.
void draw_fitted_numbers(Canvas& canvas, const PlacedHeatmap& placed) {
    constexpr double em = 0.6, well_read = 0.75 * label_size, beside = 4;
    const Heatmap& heatmap = placed.heatmap;
    for (const std::size_t characters : {std::size_t{5}, std::size_t{4}, std::size_t{3}}) {
        const double across = (placed.cell.width - beside) / (em * static_cast<double>(characters)),
                     size = std::min({label_size, across, placed.cell.height / 1.3});
        if (size < (characters == 3 ? placed.page.least_number : std::max(well_read, placed.page.least_number)))
            continue;
        const std::vector<std::string> texts =
            cell_texts(heatmap, {0, 0, heatmap.rows, heatmap.columns}, characters, FillPlace::in_legend);
        if (texts.empty()) continue;
        const auto at = [&](Index row, Index column) {
            return static_cast<std::size_t>(row * heatmap.columns + column);
        };
        for (Index row = 0; row < heatmap.rows; ++row)
            for (Index column = 0; column < heatmap.columns; ++column) {
                const bool masked = hidden_by::masked(causes_at(heatmap, row, column));
                if (masked && heatmap.at(row, column) == 0.0F) continue;  // expected, and left out
                draw_number(canvas, placed, row, column, texts[at(row, column)], {size, {}, false, true}, 0);
            }
        return;
    }
}

void draw_numbers(Canvas& canvas, const PlacedHeatmap& placed) {
    const Heatmap& heatmap = placed.heatmap;
    if (placed.is_reduced()) return;
    if (placed.page.is_asked() && heatmap.texts.empty()) return draw_fitted_numbers(canvas, placed);
    if (placed.cell.height < 16) return;
    const bool whole = std::all_of(heatmap.values.begin(), heatmap.values.end(),
                                   [](float value) { return !(value - std::trunc(value) != 0.0F); });
    const double size = size_of_numbers(placed, whole);
    if (size < placed.page.least_number) return;  // all numbers or none
    for (Index row = 0; row < heatmap.rows; ++row) {
        for (Index column = 0; column < heatmap.columns; ++column) {
            const std::string number = number_in(heatmap, row, column, whole);
            if (std::isinf(heatmap.at(row, column)))
                draw_infinity(canvas, placed, row, column, number);
            else
                draw_number(canvas, placed, row, column, number, {size, {}, false, true});
        }
    }
}

std::string reduction_note(const PlacedHeatmap& placed) {
    const auto share = [](Index cells, Index drawn) { return std::to_string((cells + drawn - 1) / drawn); };
    return tr("Each point shows the largest magnitude of up to {rows} × {columns} cells.",
              {{"rows", share(placed.heatmap.rows, placed.drawn_rows())},
               {"columns", share(placed.heatmap.columns, placed.drawn_columns())}});
}

void draw_row_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels) {
    const Face face{label_size, canvas.inks().text};
    const double x = placed.box.x;
    Index row = 0;
    for (const std::string& label : labels.texts) {
        const double y = placed.row_middle(row);
        canvas.put(text_at(label, x - 7, y + half_capital * label_size, face, Anchor::end));
        if (labels.stride > 1) canvas.line(x - 4, y, x, y, canvas.inks().line);
        row += labels.stride;
    }
}

void draw_column_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels) {
    const Face face{label_size, canvas.inks().text};
    const double y = placed.box.y - 7;
    Index column = 0;
    for (const std::string& label : labels.texts) {
        const double x = placed.column_middle(column);
        if (labels.vertical)
            canvas.put(upright(text_at(label, x + half_capital * label_size, y, face)));
        else
            canvas.put(text_at(label, x, y, face, Anchor::middle));
        if (labels.stride > 1) canvas.line(x, placed.box.y - 4, x, placed.box.y, canvas.inks().line);
        column += labels.stride;
    }
}

double row_name_room(const std::string& name) { return name.empty() ? 0 : 24; }
double column_name_room(const std::string& name) { return name.empty() ? 0 : 20; }

void draw_row_name(Canvas& canvas, const std::string& name, const Box& box, double left, double top) {
    if (name.empty()) return;
    Text text = text_at(printable(name), left + 12, 0, axis_face(name, canvas.inks()), Anchor::middle);
    text.y = std::max(box.y + box.height / 2, top + 4 + text_box(text).width / 2);
    canvas.put(upright(text));
}

void draw_column_name(Canvas& canvas, const std::string& name, const Box& box, double reach, double left) {
    if (name.empty()) return;
    Text text = text_at(printable(name), 0, box.y - reach - 16, axis_face(name, canvas.inks()), Anchor::middle);
    text.x = std::max(box.x + box.width / 2, left + text_box(text).width / 2);
    canvas.put(text);
}

}  // namespace decoderscope::core::figure
