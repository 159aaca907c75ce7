#include "app/core/figure/figure.h"

#include "app/core/figure/figure_cells.h"
#include "app/core/figure/pattern_lines.h"
#include "app/core/text/text_layout.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace decoderscope::core {

using namespace figure;

namespace {

constexpr double least_legend_width = 320;

}  // namespace

Figure figure::drawn_heatmap(Heatmap heatmap, const FigureStyle& style, const Page& page) {
    figure::Canvas canvas(style.dark, page);
    const std::string title = style.title ? heatmap.title : "", subtitle = style.title ? heatmap.subtitle : "";
    const double top = figure::heading_bottom(title, subtitle);
    if (style.lines) {
        draw_pattern(canvas, heatmap, style, page, top);
    } else {
        const figure::CellSize cell = figure::cell_size(heatmap.rows, heatmap.columns, page.room);
        const figure::AxisLabels rows = figure::row_labels(heatmap.row_labels, cell.height);
        const figure::AxisLabels columns = figure::column_labels(heatmap.column_labels, cell.width);
        const double left = figure::margin + figure::row_name_room(heatmap.row_axis);
        const figure::Box box{
            left + rows.reach + 8, top + 12 + figure::column_name_room(heatmap.column_axis) + columns.reach + 8,
            cell.width * static_cast<double>(heatmap.columns), cell.height * static_cast<double>(heatmap.rows)};
        const ColorMap map = figure::take_colors(heatmap, style);
        const figure::PlacedHeatmap placed{heatmap, box, cell, map, style.dark, figure::most_cells, page};
        canvas.grow(box);
        figure::draw_cells(canvas, placed);
        if (style.numbers) figure::draw_numbers(canvas, placed);
        figure::draw_note_marks(canvas, placed);
        figure::draw_row_labels(canvas, placed, rows);
        figure::draw_column_labels(canvas, placed, columns);
        figure::draw_column_name(canvas, heatmap.column_axis, box, columns.reach, left);
        figure::draw_row_name(canvas, heatmap.row_axis, box, figure::margin, top);
        if (style.bar && marks_in(heatmap).has_scale)
            figure::draw_bar_at(canvas, {heatmap.range, heatmap.scale, map, style.dark}, box, left, page);
        figure::LegendContents legend;
        legend.add(heatmap);
        figure::draw_legend(
            canvas, legend, {map, style.dark, figure::hatch_spacing(placed), heatmap.range},
            page.is_asked() ? figure::margin : box.x,
            page.is_asked() ? page.width - figure::margin : std::max(box.right(), box.x + least_legend_width),
            placed.is_reduced() ? figure::reduction_note(placed) : "");
    }
    canvas.heading(title, subtitle);
    std::vector<std::string> notes;
    for (const NotedCell& note : heatmap.notes) notes.push_back(note.text);
    if (!style.lines) figure::draw_numbered(canvas, notes);
    if (style.notes) figure::draw_caption(canvas, style.caption);
    return canvas.finished(heatmap.title + (heatmap.subtitle.empty() ? "" : ", " + heatmap.subtitle));
}

Figure heatmap_figure(const Heatmap& heatmap, const FigureStyle& style) {
    return figure::fitted(style, [&](const Page& page) { return drawn_heatmap(heatmap, style, page); });
}

}  // namespace decoderscope::core

// The shapes that a figure is made of: where their lines run and how much room they take.

namespace decoderscope::core::figure {
namespace {

// How far letters rise above the baseline and reach below it, in em.
constexpr double ascent = 1.0, descent = 0.26;

// Both ends of the part of a slanted line x + slant·y = at that lies in a box; nothing if none does.
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

void add_level_lines(std::vector<Segment>& segments, const Box& box, double spacing) {
    for (double k = std::ceil(box.y / spacing); k * spacing < box.bottom(); ++k)
        segments.push_back({box.x, k * spacing, box.right(), k * spacing});
}

void add_upright_lines(std::vector<Segment>& segments, const Box& box, double spacing) {
    for (double k = std::ceil(box.x / spacing); k * spacing < box.right(); ++k)
        segments.push_back({k * spacing, box.y, k * spacing, box.bottom()});
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
    if (hatch == Hatch::level || hatch == Hatch::grid) add_level_lines(segments, rectangle.box, rectangle.spacing);
    if (hatch == Hatch::upright || hatch == Hatch::grid) add_upright_lines(segments, rectangle.box, rectangle.spacing);
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

}  // namespace decoderscope::core::figure

namespace decoderscope::core {

bool cells_as_pictures(const Figure& figure) {
    constexpr Index most_rectangles = 512 * 512;
    Index cells = 0;
    for (const figure::Primitive& primitive : figure.primitives)
        if (const auto* grid = std::get_if<figure::CellGrid>(&primitive)) cells += grid->rows * grid->columns;
    return cells > most_rectangles;
}

}  // namespace decoderscope::core
