#include "app/core/export/figure.h"

#include "app/core/export/figure_bar.h"
#include "app/core/export/figure_labels.h"
#include "app/core/export/figure_legend.h"

#include <algorithm>

namespace decoderscope {

using namespace figure;

namespace {

constexpr double least_legend_width = 320;

}  // namespace

Figure heatmap_figure(const Heatmap& heatmap, const FigureStyle& style) {
    Canvas canvas(style.dark);
    const CellSize cell = cell_size(heatmap.rows, heatmap.columns);
    const AxisLabels rows = figure::row_labels(heatmap.row_labels, cell.height);
    const AxisLabels columns = figure::column_labels(heatmap.column_labels, cell.width);
    const double top = heading_bottom(heatmap.title, heatmap.subtitle);
    const double left = margin + row_name_room(heatmap.row_axis);
    const Box box{left + rows.reach + 8, top + 12 + column_name_room(heatmap.column_axis) + columns.reach + 8,
                  cell.width * static_cast<double>(heatmap.columns), cell.height * static_cast<double>(heatmap.rows)};
    const ColorMap map = heatmap.scale == Scale::sequential ? style.sequential : style.diverging;
    const PlacedHeatmap placed{heatmap, box, cell, map, style.dark};
    canvas.grow(box);
    draw_cells(canvas, placed);
    if (style.numbers) draw_numbers(canvas, placed);
    draw_row_labels(canvas, placed, rows);
    draw_column_labels(canvas, placed, columns);
    draw_column_name(canvas, heatmap.column_axis, box, columns.reach, left);
    draw_row_name(canvas, heatmap.row_axis, box, margin, top);
    draw_bar_at(canvas, {heatmap.range, heatmap.scale, map, style.dark}, box, left);
    LegendContents legend;
    legend.add(heatmap);
    draw_legend(canvas, legend, {map, style.dark, hatch_spacing(placed), heatmap.range}, box.x,
                std::max(box.right(), box.x + least_legend_width), placed.is_reduced() ? reduction_note(placed) : "");
    canvas.heading(heatmap.title, heatmap.subtitle);
    draw_caption(canvas, style.caption);
    return canvas.finished(heatmap.title + (heatmap.subtitle.empty() ? "" : ", " + heatmap.subtitle));
}

}  // namespace decoderscope
