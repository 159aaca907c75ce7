#include "app/core/export/figure.h"

#include "app/core/export/figure_axes.h"
#include "app/core/export/figure_ticks.h"
#include "app/core/export/text.h"
#include "app/core/meaning.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace decoderscope {
namespace figure {
namespace {

// How far letters rise above the baseline and reach below it, in em; half the height of a capital or digit.
constexpr double ascent = 1.0, descent = 0.26, half_capital = 0.36;

// Both ends of the part of a slanted line x + slant·y = at that lies in a box, or nothing.
std::optional<Segment> clipped(const Box& box, double slant, double at) {
    const double top = at - slant * box.y;
    const double bottom = at - slant * box.bottom();
    const double from = std::max(box.x, std::min(top, bottom));
    const double to = std::min(box.right(), std::max(top, bottom));
    if (to - from < 0.05) return std::nullopt;
    return Segment{from, (at - from) / slant, to, (at - to) / slant};
}

// Slant 1 leans like a slash, -1 like a backslash.
void add_lines(std::vector<Segment>& segments, const Box& box, double slant, double spacing) {
    const double step = spacing * std::sqrt(2.0);
    const double first = box.x + std::min(slant * box.y, slant * box.bottom());
    const double last = box.right() + std::max(slant * box.y, slant * box.bottom());
    for (double k = std::ceil(first / step); k * step < last; ++k) {
        if (const auto segment = clipped(box, slant, k * step)) segments.push_back(*segment);
    }
}

void add_dots(std::vector<Segment>& segments, const Box& box, double spacing, double radius) {
    const double inset = std::min(box.width, box.height) > 4 * radius ? radius : 0;
    const double line = spacing * 0.75;
    for (double k = std::ceil((box.y + inset) / line); k * line < box.bottom() - inset; ++k) {
        const double shift = std::fmod(std::fabs(k), 2.0) * spacing / 2;
        const double first = std::ceil((box.x + inset - shift) / spacing) * spacing + shift;
        for (double x = first; x < box.right() - inset; x += spacing) segments.push_back({x, k * line, x, k * line});
    }
}

}  // namespace

double stroke_width(const HatchedRectangle& rectangle) {
    return rectangle.hatch == Hatch::dots ? 2.2 * rectangle.width : rectangle.width;
}

std::vector<Segment> hatch_segments(const HatchedRectangle& rectangle) {
    std::vector<Segment> segments;
    const Hatch hatch = rectangle.hatch;
    if (hatch == Hatch::forward || hatch == Hatch::cross) add_lines(segments, rectangle.box, 1, rectangle.spacing);
    if (hatch == Hatch::backward || hatch == Hatch::cross) add_lines(segments, rectangle.box, -1, rectangle.spacing);
    if (hatch == Hatch::dots) add_dots(segments, rectangle.box, rectangle.spacing, stroke_width(rectangle) / 2);
    return segments;
}

Box text_box(const Text& text) {
    const double width = text.size * text_width_em(text.text, text.bold, text.monospace);
    const double before = text.anchor == Anchor::start ? 0 : text.anchor == Anchor::middle ? width / 2 : width;
    const double height = (ascent + descent) * text.size;
    if (text.vertical) return {text.x - ascent * text.size, text.y - width + before, height, width};
    return {text.x - before, text.y - ascent * text.size, width, height};
}

}  // namespace figure

namespace {

using figure::Anchor;
using figure::Box;
using figure::label_size;
using figure::Text;

constexpr double margin = 16;
constexpr double title_size = 14, subtitle_size = 12.5, axis_name_size = 12.5;
constexpr double longest_heading = 720;

// The colours of everything but the cells.
struct Inks {
    Rgba background, text, quiet, line;
};

Inks inks(bool dark) {
    if (dark)
        return {{0x16, 0x18, 0x1C, 255}, {0xE8, 0xEA, 0xED, 255}, {0xA4, 0xAB, 0xB3, 255}, {0x5A, 0x60, 0x68, 255}};
    return {{255, 255, 255, 255}, {0x1B, 0x1F, 0x24, 255}, {0x56, 0x5D, 0x66, 255}, {0x8E, 0x95, 0x9D, 255}};
}

// What a text's size, colour and face are, apart from what and where it is.
struct Face {
    double size = label_size;
    Rgba color;
    bool bold = false;
    bool monospace = false;
};

Text text_at(std::string text, double x, double y, const Face& face, Anchor anchor = Anchor::start) {
    return {std::move(text), x, y, face.size, face.color, anchor, face.bold, face.monospace, false};
}

Text upright(Text text) {
    text.vertical = true;
    return text;
}

// Draws one heatmap. The parts are drawn from the cells outward; the figure grows with what is put into it.
class HeatmapPainter {
public:
    HeatmapPainter(const Heatmap& heatmap, const FigureStyle& style)
        : heatmap_(heatmap),
          style_(style),
          map_(heatmap.scale == Scale::sequential ? style.sequential : style.diverging),
          inks_(inks(style.dark)),
          cell_(figure::cell_size(heatmap.rows, heatmap.columns)),
          row_labels_(figure::row_labels(heatmap.row_labels, cell_.height)),
          column_labels_(figure::column_labels(heatmap.column_labels, cell_.width)) {}

    Figure painted() {
        place_cells();
        draw_cells();
        draw_hatches();
        draw_grid_lines();
        draw_numbers();
        draw_row_labels();
        draw_column_labels();
        draw_axis_names();
        draw_color_bar();
        draw_legend();
        draw_heading();
        return finished();
    }

private:
    // ---- places

    [[nodiscard]] double heading_bottom() const {
        return margin + (heatmap_.title.empty() ? 0 : 18) + (heatmap_.subtitle.empty() ? 0 : 18);
    }

    [[nodiscard]] double row_name_room() const { return heatmap_.row_axis.empty() ? 0 : 24; }

    void place_cells() {
        const double column_name = heatmap_.column_axis.empty() ? 0 : 20;
        cells_.x = margin + row_name_room() + row_labels_.reach + 8;
        cells_.y = heading_bottom() + 12 + column_name + column_labels_.reach + 8;
        cells_.width = cell_.width * static_cast<double>(heatmap_.columns);
        cells_.height = cell_.height * static_cast<double>(heatmap_.rows);
        grow(cells_);
    }

    [[nodiscard]] double row_middle(Index row) const {
        return cells_.y + (static_cast<double>(row) + 0.5) * cell_.height;
    }
    [[nodiscard]] double column_middle(Index column) const {
        return cells_.x + (static_cast<double>(column) + 0.5) * cell_.width;
    }
    [[nodiscard]] Box box_of(const CellRect& cells) const {
        return {cells_.x + static_cast<double>(cells.column) * cell_.width,
                cells_.y + static_cast<double>(cells.row) * cell_.height,
                static_cast<double>(cells.columns) * cell_.width, static_cast<double>(cells.rows) * cell_.height};
    }
    [[nodiscard]] Index drawn_rows() const { return std::min(heatmap_.rows, figure::most_cells); }
    [[nodiscard]] Index drawn_columns() const { return std::min(heatmap_.columns, figure::most_cells); }
    [[nodiscard]] bool is_reduced() const { return drawn_rows() < heatmap_.rows || drawn_columns() < heatmap_.columns; }
    [[nodiscard]] bool is_empty() const { return heatmap_.rows == 0 || heatmap_.columns == 0; }
    [[nodiscard]] double smaller_side() const { return std::min(cell_.width, cell_.height); }

    // ---- putting primitives into the figure

    void grow(const Box& box) {
        right_ = std::max(right_, box.right());
        bottom_ = std::max(bottom_, box.bottom());
    }
    void put(Text text) {
        grow(figure::text_box(text));
        figure_.primitives.emplace_back(std::move(text));
    }
    void put(const figure::FilledRectangle& rectangle) {
        grow(rectangle.box);
        figure_.primitives.emplace_back(rectangle);
    }
    void put(figure::CellGrid grid) {
        grow(grid.box);
        figure_.primitives.emplace_back(std::move(grid));
    }
    void put(const figure::HatchedRectangle& rectangle) { figure_.primitives.emplace_back(rectangle); }
    void line(double x1, double y1, double x2, double y2, Rgba color, double width) {
        figure_.primitives.emplace_back(figure::Line{x1, y1, x2, y2, width, color});
    }
    void frame(const Box& box) {
        constexpr double hair = 0.75;
        line(box.x, box.y, box.right(), box.y, inks_.line, hair);
        line(box.right(), box.y, box.right(), box.bottom(), inks_.line, hair);
        line(box.right(), box.bottom(), box.x, box.bottom(), inks_.line, hair);
        line(box.x, box.bottom(), box.x, box.y, inks_.line, hair);
    }

    // ---- the cells

    void draw_cells() {
        if (is_empty()) return;
        const CellRect all{0, 0, heatmap_.rows, heatmap_.columns};
        put(figure::CellGrid{cells_, drawn_rows(), drawn_columns(),
                             reduced_colors(heatmap_, all, drawn_rows(), drawn_columns(), map_, style_.dark)});
    }

    void draw_hatches() {
        for (const HiddenBlock& block : hidden_blocks(heatmap_)) hatch(box_of(block.cells), block.causes);
    }

    void hatch(const Box& box, std::uint8_t causes) {
        const double spacing = std::clamp(smaller_side() / 2, 4.0, 7.0);
        put(figure::HatchedRectangle{box, hatch_of(causes), hatch_color(causes, style_.dark), spacing, 0.9});
    }

    void draw_grid_lines() {
        if (smaller_side() >= 16) {
            for (Index row = 1; row < heatmap_.rows; ++row) {
                const double y = cells_.y + static_cast<double>(row) * cell_.height;
                line(cells_.x, y, cells_.right(), y, inks_.background, 0.75);
            }
            for (Index column = 1; column < heatmap_.columns; ++column) {
                const double x = cells_.x + static_cast<double>(column) * cell_.width;
                line(x, cells_.y, x, cells_.bottom(), inks_.background, 0.75);
            }
        }
        frame(cells_);
    }

    // ---- the numbers in them

    [[nodiscard]] std::uint8_t causes_at(Index row, Index column) const {
        return heatmap_.hidden.empty() ? hidden_by::nothing
                                       : heatmap_.hidden[static_cast<std::size_t>(row * heatmap_.columns + column)];
    }

    // A masked cell says what fills it; a zero there is what everybody expects and stays unsaid.
    [[nodiscard]] std::string number_in(Index row, Index column, bool whole) const {
        const float value = heatmap_.at(row, column);
        const bool masked = causes_at(row, column) != hidden_by::nothing;
        if (masked && value == 0.0F) return "";
        return masked || whole ? short_number_text(value, 3) : number_text(value, 3);
    }

    void draw_numbers() {
        if (!style_.numbers || is_reduced() || cell_.height < 16) return;
        const bool whole = std::all_of(heatmap_.values.begin(), heatmap_.values.end(),
                                       [](float value) { return !(value - std::trunc(value) != 0.0F); });
        double widest = 0.61;
        for_each_cell([&](Index row, Index column) {
            widest = std::max(widest, text_width_em(number_in(row, column, whole), false, true));
        });
        const double size = cell_.width < 30 ? 0 : std::min(12.0, (cell_.width - 9) / widest);
        for_each_cell([&](Index row, Index column) {
            const std::string number = number_in(row, column, whole);
            if (std::isinf(heatmap_.at(row, column))) {
                draw_infinity(row, column, number);
            } else if (size >= 7) {
                draw_number(row, column, number, {size, {}, false, true});
            }
        });
    }

    void for_each_cell(const std::function<void(Index, Index)>& visit) const {
        for (Index row = 0; row < heatmap_.rows; ++row) {
            for (Index column = 0; column < heatmap_.columns; ++column) visit(row, column);
        }
    }

    // In the other face, for a monospaced ∞ is too small to see; and as large as it fits, whatever the numbers need.
    void draw_infinity(Index row, Index column, const std::string& text) {
        const double size = std::min(13.0, (cell_.width - 8) / text_width_em(text, false, false));
        if (size >= 8) draw_number(row, column, text, {size, {}, false, false});
    }

    void draw_number(Index row, Index column, const std::string& number, Face face) {
        if (number.empty()) return;
        const Rgba ground = cell_color(heatmap_, row, column, map_, style_.dark);
        face.color = text_color_on(ground);
        const Text text = text_at(number, column_middle(column), row_middle(row) + figure::half_capital * face.size,
                                  face, Anchor::middle);
        if (causes_at(row, column) != hidden_by::nothing) put(figure::FilledRectangle{halo(text), ground});
        put(text);
    }

    // Room around a number on a hatch.
    [[nodiscard]] static Box halo(const Text& text) {
        const Box box = figure::text_box(text);
        return {box.x - 1, text.y - 0.86 * text.size, box.width + 2, text.size};
    }

    // ---- the axes

    void draw_row_labels() {
        const Face face{label_size, inks_.text};
        Index row = 0;
        for (const std::string& label : row_labels_.texts) {
            const double y = row_middle(row);
            put(text_at(label, cells_.x - 7, y + figure::half_capital * label_size, face, Anchor::end));
            if (row_labels_.stride > 1) line(cells_.x - 4, y, cells_.x, y, inks_.line, 0.75);
            row += row_labels_.stride;
        }
    }

    void draw_column_labels() {
        const Face face{label_size, inks_.text};
        const double y = cells_.y - 7;
        Index column = 0;
        for (const std::string& label : column_labels_.texts) {
            const double x = column_middle(column);
            if (column_labels_.vertical) {
                put(upright(text_at(label, x + figure::half_capital * label_size, y, face)));
            } else {
                put(text_at(label, x, y, face, Anchor::middle));
            }
            if (column_labels_.stride > 1) line(x, cells_.y - 4, x, cells_.y, inks_.line, 0.75);
            column += column_labels_.stride;
        }
    }

    // Queries and keys have their colour here too.
    [[nodiscard]] Face axis_face(const std::string& name) const {
        for (const Meaning meaning : {Meaning::query, Meaning::key}) {
            if (name == meaning_name(meaning)) return {axis_name_size, meaning_color(meaning), true};
        }
        return {axis_name_size, inks_.quiet, true};
    }

    void draw_axis_names() {
        const auto half_width = [](const Text& text) { return figure::text_box(text).width / 2; };
        Text column = text_at(printable(heatmap_.column_axis), 0, cells_.y - column_labels_.reach - 16,
                              axis_face(heatmap_.column_axis), Anchor::middle);
        column.x = std::max(cells_.x + cells_.width / 2, margin + row_name_room() + half_width(column));
        Text row = text_at(printable(heatmap_.row_axis), margin + 12, 0, axis_face(heatmap_.row_axis), Anchor::middle);
        row.y = std::max(cells_.y + cells_.height / 2, heading_bottom() + 4 + half_width(row));
        if (!heatmap_.column_axis.empty()) put(column);
        if (!heatmap_.row_axis.empty()) put(upright(row));
    }

    // ---- the colour bar

    void draw_color_bar() {
        if (cells_.height >= 112) {
            draw_upright_bar({cells_.right() + 20, cells_.y, 12, cells_.height});
        } else {
            draw_level_bar({level_bar_start(), cells_.bottom() + 16, std::clamp(cells_.width, 160.0, 320.0), 12});
        }
    }

    // Below the cells, unless the text at the bar's low end needs more room to its left.
    [[nodiscard]] double level_bar_start() const {
        const double half = label_size * text_width_em(short_number_text(heatmap_.range.low, 4), false, false) / 2;
        return std::max(cells_.x, margin + row_name_room() + half);
    }

    // Colours from the range's low end to its high end, each that of the value at its middle.
    [[nodiscard]] std::vector<Rgba> bar_colors() const {
        constexpr std::size_t count = 255;
        std::vector<Rgba> colors(count);
        const double low = heatmap_.range.low;
        const double span = heatmap_.range.high - low;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = low + span * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
            colors[i] = color_of(static_cast<float>(value), heatmap_.range, heatmap_.scale, map_, style_.dark);
        }
        return colors;
    }

    [[nodiscard]] double part_of_range(double value) const {
        const double low = heatmap_.range.low;
        return (value - low) / (heatmap_.range.high - low);
    }

    void draw_upright_bar(const Box& bar) {
        std::vector<Rgba> colors = bar_colors();
        std::reverse(colors.begin(), colors.end());
        const auto steps = static_cast<Index>(colors.size());
        put(figure::CellGrid{bar, steps, 1, std::move(colors)});
        frame(bar);
        const Face face{label_size, inks_.text};
        const auto line_height = [](const std::string&) { return figure::line_height; };
        for (const figure::Tick& tick : figure::ticks(heatmap_.range, bar.height, line_height)) {
            const double y = bar.bottom() - part_of_range(tick.value) * bar.height;
            line(bar.right(), y, bar.right() + 4, y, inks_.line, 0.75);
            put(text_at(tick.text, bar.right() + 8, y + figure::half_capital * label_size, face));
        }
    }

    void draw_level_bar(const Box& bar) {
        std::vector<Rgba> colors = bar_colors();
        const auto steps = static_cast<Index>(colors.size());
        put(figure::CellGrid{bar, 1, steps, std::move(colors)});
        frame(bar);
        const Face face{label_size, inks_.text};
        const auto width = [](const std::string& text) { return label_size * text_width_em(text, false, false); };
        for (const figure::Tick& tick : figure::ticks(heatmap_.range, bar.width, width)) {
            const double x = bar.x + part_of_range(tick.value) * bar.width;
            line(x, bar.bottom(), x, bar.bottom() + 4, inks_.line, 0.75);
            put(text_at(tick.text, x, bar.bottom() + 17, face, Anchor::middle));
        }
    }

    // ---- the legend of masks and marks

    // Masked cells of the same causes, and what fills them where that is the same in all.
    struct MaskKind {
        std::uint8_t causes = hidden_by::nothing;
        std::optional<float> fill;
    };

    static bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

    [[nodiscard]] std::vector<MaskKind> mask_kinds() const {
        std::map<std::uint8_t, MaskKind> kinds;
        for (std::size_t i = 0; i < heatmap_.hidden.size(); ++i) {
            const std::uint8_t causes = heatmap_.hidden[i];
            if (causes == hidden_by::nothing) continue;
            MaskKind& kind = kinds.try_emplace(causes, MaskKind{causes, heatmap_.values[i]}).first->second;
            if (kind.fill && !same(*kind.fill, heatmap_.values[i])) kind.fill.reset();
        }
        std::vector<MaskKind> found;
        for (const auto& [causes, kind] : kinds) found.push_back(kind);
        return found;
    }

    // A fill of zero is what everybody expects and stays unsaid, as in the cells.
    [[nodiscard]] static std::string mask_entry(const MaskKind& kind) {
        const bool says_fill = kind.fill && *kind.fill != 0.0F;
        return hidden_text(kind.causes) + (says_fill ? ": " + short_number_text(*kind.fill, 3) : "");
    }

    // As its cells are coloured: those that all hold NaN show that.
    [[nodiscard]] Rgba mask_swatch(const MaskKind& kind) const {
        const bool all_nan = kind.fill && std::isnan(*kind.fill);
        return all_nan ? mark_color(Mark::nan, map_, style_.dark) : hidden_color(kind.causes, style_.dark);
    }

    [[nodiscard]] Mark mark_at(std::size_t offset) const { return mark_of(heatmap_.values[offset], heatmap_.range); }

    // The marks that some cell shows: a masked one shows none but NaN.
    [[nodiscard]] std::set<Mark> marks() const {
        std::set<Mark> found;
        for (std::size_t i = 0; i < heatmap_.values.size(); ++i) {
            const bool masked = !heatmap_.hidden.empty() && heatmap_.hidden[i] != hidden_by::nothing;
            const Mark mark = mark_at(i);
            if (mark != Mark::none && (!masked || mark == Mark::nan)) found.insert(mark);
        }
        return found;
    }

    [[nodiscard]] std::string mark_entry(Mark mark) const {
        const std::string text(mark_text(mark));
        if (mark == Mark::above) return text + " (> " + short_number_text(heatmap_.range.high, 4) + ")";
        if (mark == Mark::below) return text + " (< " + short_number_text(heatmap_.range.low, 4) + ")";
        return text;
    }

    void draw_legend() {
        legend_ = {cells_.x, bottom_ + 14};
        for (const MaskKind& kind : mask_kinds()) {
            const Box swatch = add_entry(mask_entry(kind), mask_swatch(kind));
            hatch(swatch, kind.causes);
            frame(swatch);
        }
        for (const Mark mark : marks()) frame(add_entry(mark_entry(mark), mark_color(mark, map_, style_.dark)));
        if (is_reduced()) add_note(reduction_note());
    }

    // Where the next legend entry goes.
    struct Place {
        double x = 0, y = 0;
    };
    static constexpr double entry_height = 20, swatch_width = 20, swatch_height = 13;

    void make_room(double width) {
        const bool begins_a_line = legend_.x == cells_.x;
        if (begins_a_line || legend_.x + width <= std::max(cells_.right(), cells_.x + 320)) return;
        legend_ = {cells_.x, legend_.y + entry_height};
    }

    // Puts a swatch with its text at the next place and tells where the swatch is.
    Box add_entry(const std::string& text, Rgba color) {
        const double width = swatch_width + 6 + label_size * text_width_em(text, false, false);
        make_room(width);
        const Box swatch{legend_.x, legend_.y, swatch_width, swatch_height};
        put(figure::FilledRectangle{swatch, color});
        put(text_at(text, swatch.right() + 6, legend_.y + swatch_height / 2 + figure::half_capital * label_size,
                    {label_size, inks_.text}));
        legend_.x += width + 18;
        return swatch;
    }

    void add_note(const std::string& text) {
        make_room(1e9);
        put(text_at(text, legend_.x, legend_.y + swatch_height / 2 + figure::half_capital * label_size,
                    {label_size, inks_.quiet}));
    }

    [[nodiscard]] std::string reduction_note() const {
        const auto share = [](Index cells, Index drawn) { return (cells + drawn - 1) / drawn; };
        return "Each point shows the largest magnitude of up to " + std::to_string(share(heatmap_.rows, drawn_rows())) +
               " × " + std::to_string(share(heatmap_.columns, drawn_columns())) + " cells.";
    }

    // ---- the heading

    void draw_heading() {
        const double room = std::max(longest_heading, right_ - margin);
        const auto fitting = [room](const std::string& text, const Face& face) {
            return elided(printable(text), room / face.size, face.bold, face.monospace);
        };
        const Face title{title_size, inks_.text, true, true};
        const Face subtitle{subtitle_size, inks_.quiet};
        if (!heatmap_.title.empty()) put(text_at(fitting(heatmap_.title, title), margin, margin + 12, title));
        if (!heatmap_.subtitle.empty()) {
            put(text_at(fitting(heatmap_.subtitle, subtitle), margin, heading_bottom() - 6, subtitle));
        }
    }

    Figure finished() {
        figure_.width = std::ceil(right_ + margin);
        figure_.height = std::ceil(bottom_ + margin);
        figure_.background = inks_.background;
        figure_.name = printable(heatmap_.title + (heatmap_.subtitle.empty() ? "" : ", " + heatmap_.subtitle));
        return std::move(figure_);
    }

    const Heatmap& heatmap_;
    const FigureStyle& style_;
    ColorMap map_;
    Inks inks_;
    figure::CellSize cell_;
    figure::AxisLabels row_labels_, column_labels_;
    Box cells_;
    Figure figure_;
    Place legend_;
    double right_ = 0, bottom_ = 0;
};

}  // namespace

Figure heatmap_figure(const Heatmap& heatmap, const FigureStyle& style) {
    return HeatmapPainter(heatmap, style).painted();
}

}  // namespace decoderscope
