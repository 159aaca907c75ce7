#include "app/core/figure/exhibit.h"

#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/figure_cells.h"
#include "app/core/figure/said.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace decoderscope::core {

namespace {

// Finished figures in rows of `columns`, each with its own axes and legend.
void tile(figure::Canvas& canvas, std::vector<Figure> figures, std::size_t columns, double top) {
    constexpr double gap = 12;
    double y = top;
    for (std::size_t first = 0; first < figures.size(); first += columns) {
        const std::size_t last = std::min(first + columns, figures.size());
        double x = 0, height = 0;
        for (std::size_t i = first; i < last; ++i) {
            const double width = figures[i].width;
            height = std::max(height, figures[i].height);
            canvas.put(std::move(figures[i]), x, y);
            x += width + gap - figure::margin;
        }
        y += height + gap - figure::margin;
    }
}

// The samples of the runs' strokes and of the curves' colours, below all charts. A curve that is called as its run is
// told by its colour.
void draw_chart_legend(figure::Canvas& canvas, const std::vector<Chart>& charts, const figure::Inks& inks) {
    struct Entry {
        std::string text;
        Rgba color;
        bool dashed;
    };
    std::vector<Entry> entries;
    const auto add = [&](const Entry& entry) {
        const auto same = [&](const Entry& e) { return e.text == entry.text; };
        if (!entry.text.empty() && std::none_of(entries.begin(), entries.end(), same)) entries.push_back(entry);
    };
    for (const bool dashed : {false, true})
        for (const Chart& chart : charts)
            for (const ChartCurve& curve : chart.curves)
                if (curve.dashed == dashed && curve.run != curve.curve.name) add({curve.run, inks.text, dashed});
    for (const Chart& chart : charts)
        for (const ChartCurve& curve : chart.curves)
            if (chart.curves.size() > 2 || curve.run == curve.curve.name) add({curve.curve.name, curve.color, false});
    const double left = figure::margin + 4, right = canvas.text_width(std::max(canvas.right(), 480.0));
    double x = left, y = canvas.bottom() + 22;
    for (const Entry& entry : entries) {
        const auto text = [&] { return figure::text_at(entry.text, x + 34, y, {figure::label_size, inks.text}); };
        if (x > left && figure::text_box(text()).right() > right) {
            x = left;
            y += 20;
        }
        canvas.put(figure::Polyline{{{x, y - 4}, {x + 28, y - 4}}, 1.75, entry.color, entry.dashed ? 5.0 : 0.0});
        canvas.put(text());
        x = figure::text_box(text()).right() + 18;
    }
}

std::string name_of(const Exhibit& exhibit) {
    return exhibit.title + (exhibit.subtitle.empty() ? "" : ", " + exhibit.subtitle);
}

constexpr double plot_width = 300, plot_height_of_width = 0.6;

ChartAxis axis_of(const Chart& chart) {
    std::vector<const DepthCurve*> curves;
    for (const ChartCurve& curve : chart.curves) curves.push_back(&curve.curve);
    return axis_of_curves(curves, chart.may_be_logarithmic);
}

void draw_ticks(figure::Canvas& canvas, const ChartPlot& plot) {
    const figure::Face face{figure::label_size, canvas.inks().quiet, false, true};
    for (const ChartLabel& tick : plot.ticks()) {
        canvas.line(plot.box.x, tick.at, plot.box.x + plot.box.width, tick.at, canvas.inks().line);
        canvas.put(figure::text_at(tick.text, plot.box.x - 6, tick.at + figure::half_capital * figure::label_size, face,
                                   figure::Anchor::end));
    }
}

void draw_places(figure::Canvas& canvas, const ChartPlot& plot, const std::string& across) {
    const figure::Face face{figure::label_size, canvas.inks().quiet, false, true};
    const double room = figure::label_size * text_width_em(plot.longest_label(), false, true) + 10;
    for (const ChartLabel& block : plot.labels(room)) {
        canvas.line(block.at, plot.box.bottom(), block.at, plot.box.bottom() + 4, canvas.inks().line);
        canvas.put(figure::text_at(block.text, block.at, plot.box.bottom() + 17, face, figure::Anchor::middle));
    }
    canvas.put(figure::text_at(across, plot.box.x + plot.box.width / 2, plot.box.bottom() + 33,
                               {figure::label_size, canvas.inks().quiet}, figure::Anchor::middle));
}

// A curve in the text's colour keeps the text's colour on any background.
Rgba color_on(const figure::Canvas& canvas, Rgba color) {
    return color == figure::inks(false).text ? canvas.inks().text : color;
}

void draw_curve(figure::Canvas& canvas, const ChartPlot& plot, const ChartCurve& curve) {
    const Rgba color = color_on(canvas, curve.color);
    const ChartStroke stroke = plot.stroke(curve.curve, 0.0, 14.0);
    for (const std::vector<ChartSpot>& piece : stroke.pieces) {
        std::vector<figure::Point> points;
        for (const ChartSpot& spot : piece) points.push_back({spot.x, spot.y});
        canvas.put(figure::Polyline{std::move(points), 1.75, color, curve.dashed ? 5.0 : 0.0});
    }
    const Rgba inside = curve.dashed ? canvas.inks().background : color;
    for (const ChartSpot& spot : stroke.dots) canvas.put(figure::Circle{{spot.x, spot.y}, 2.5, inside, color, 1.25});
}

// The texts at the top of a figure of several pictures.
struct Heading {
    std::string title, subtitle;

    [[nodiscard]] double bottom() const { return figure::heading_bottom(title, subtitle); }
};
Heading heading_of(const Exhibit& exhibit, const FigureStyle& style) {
    return style.title ? Heading{exhibit.title, exhibit.subtitle} : Heading{};
}

// Either all pictures show numbers or none does.
constexpr double picture_gap = 14, label_room = 16, own_bar_width = 4, least_with_numbers = 44;

// Where the pictures of a grid lie.
struct Grid {
    std::size_t columns = 1, rows = 1;
    figure::CellSize cell;
    figure::Box first;            // the cells of the first picture
    double across = 0, down = 0;  // from one picture to the next
    figure::AxisLabels row_labels, column_labels;
    Index most = figure::most_cells;

    [[nodiscard]] figure::Box box(std::size_t number) const {
        return {first.x + static_cast<double>(number % columns) * across,
                first.y + static_cast<double>(number / columns) * down, first.width, first.height};
    }
};

// The largest pictures that fit next to each other on a page, but no larger than a heatmap alone would be.
figure::CellSize small_cell(Index rows, Index columns, std::size_t side_by_side, const figure::Page& page) {
    if (page.is_asked()) return figure::cell_size(rows, columns, page.part(side_by_side).room);
    constexpr double usual_page = 1120, largest = 260, smallest = 64;
    const double side = std::clamp(usual_page / static_cast<double>(side_by_side) - picture_gap, smallest, largest);
    const double size = side / static_cast<double>(std::max<Index>({rows, columns, 1}));
    const double alone = figure::cell_size(rows, columns).width;
    const double square = std::min(alone, size >= 2 ? std::floor(size) : size);
    // A sliver's shorter side is stretched.
    const double shorter = static_cast<double>(std::max<Index>(std::min(rows, columns), 1));
    const double stretched = std::max(square, std::min(alone, smallest / 2 / shorter));
    return {columns < rows ? stretched : square, rows < columns ? stretched : square};
}

Grid lay_out(const Exhibit& exhibit, const Heatmap& like, const FigureStyle& style, const figure::Page& page) {
    Grid grid;
    grid.columns = std::clamp<std::size_t>(exhibit.columns, 1, exhibit.panels.size());
    grid.rows = (exhibit.panels.size() + grid.columns - 1) / grid.columns;
    grid.cell = small_cell(like.rows, like.columns, grid.columns, page);
    grid.row_labels = figure::row_labels(like.row_labels, grid.cell.height);
    grid.column_labels = figure::column_labels(like.column_labels, grid.cell.width);
    const double width = grid.cell.width * static_cast<double>(like.columns),
                 height = grid.cell.height * static_cast<double>(like.rows);
    const double left = figure::margin + (exhibit.row_names.empty() ? 0 : 20) + figure::row_name_room(like.row_axis);
    const double top = heading_of(exhibit, style).bottom() + 12 + figure::column_name_room(like.column_axis);
    grid.first = {left + grid.row_labels.reach + 8, top + label_room + grid.column_labels.reach + 8, width, height};
    // A label above a narrow picture needs room, too.
    double widest = 0;
    for (const Panel& panel : exhibit.panels)
        widest = std::max(widest, figure::label_size * text_width_em(panel.label, true, false));
    const double beside = exhibit.own_ranges ? own_bar_width + 4 : 0;
    grid.across = std::max(width + beside, widest) + picture_gap;
    grid.down = height + label_room + picture_gap;
    grid.most = std::clamp<Index>(static_cast<Index>(2 * std::max(width, height)), 64, figure::most_cells);
    return grid;
}

// "head 3", with the ends of its range if the colours span its own.
std::string label_of(const Panel& panel, const Heatmap& heatmap, bool own_range) {
    if (!own_range) return panel.label;
    const auto text = [](float value) { return short_number_text(value, 3); };
    return panel.label + ": " + text(heatmap.range.low) + " to " + text(heatmap.range.high);
}

void draw_panel(figure::Canvas& canvas, const Exhibit& exhibit, const Grid& grid, std::size_t number,
                const Panel& panel, const figure::PlacedHeatmap& placed, const FigureStyle& style) {
    const bool first_row = number < grid.columns;
    canvas.grow(placed.box);
    figure::draw_cells(canvas, placed);
    if (style.numbers && (placed.page.is_asked() || grid.cell.width >= least_with_numbers))
        figure::draw_numbers(canvas, placed);
    if (number % grid.columns == 0) figure::draw_row_labels(canvas, placed, grid.row_labels);
    if (first_row) figure::draw_column_labels(canvas, placed, grid.column_labels);
    const double above = first_row ? grid.column_labels.reach + 8 : 0;
    const figure::Face face{figure::label_size, canvas.inks().text, true};
    const std::string label = label_of(panel, placed.heatmap, exhibit.own_ranges);
    canvas.put(figure::text_at(elided(label, (grid.across - 4) / face.size, true, false), placed.box.x,
                               placed.box.y - above - 6, face));
    if (!exhibit.own_ranges) return;
    std::vector<Rgba> colors;
    const Range& range = placed.heatmap.range;
    for (int i = 63; i >= 0; --i)
        colors.push_back(color_of(range.low + (range.high - range.low) * (static_cast<float>(i) + 0.5F) / 64.0F, range,
                                  placed.heatmap.scale, placed.map, placed.dark));
    canvas.put(
        figure::CellGrid{{placed.box.right() + 3, placed.box.y, own_bar_width, placed.box.height}, 64, 1, colors});
}

void draw_row_names(figure::Canvas& canvas, const Exhibit& exhibit, const Grid& grid) {
    for (std::size_t row = 0; row < std::min(grid.rows, exhibit.row_names.size()); ++row) {
        const figure::Box box = grid.box(row * grid.columns);
        const figure::Face face{figure::label_size, canvas.inks().text, true};
        canvas.put(figure::upright(figure::text_at(printable(exhibit.row_names[row]), figure::margin + 10,
                                                   box.y + box.height / 2, face, figure::Anchor::middle)));
    }
}

}  // namespace

Rgba curve_color(std::size_t number) {
    static constexpr std::array kColors = {Meaning::query, Meaning::value, Meaning::mlp,
                                           Meaning::key,   Meaning::norm,  Meaning::residual};
    return meaning_color(kColors[number % kColors.size()]);
}

using namespace figure;

std::string Panel::file_name() const {
    std::string name = label.empty() ? tensor : tensor + "." + label;
    std::erase_if(name, [](char c) { return c == ' '; });
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
    return name;
}

Panel panel_of(std::string tensor, Heatmap heatmap) {
    const Index rows = heatmap.rows, columns = heatmap.columns;
    const bool has_sink = heatmap.has_sink;
    return {std::move(tensor), "", rows, columns, [heatmap = std::move(heatmap)] { return heatmap; }, has_sink};
}

namespace {

Figure drawn_chart(const Chart& chart, const FigureStyle& style, const figure::Page& page);
Figure drawn_grid(const Exhibit& exhibit, const FigureStyle& style, const figure::Page& page);

Figure drawn(const Exhibit& exhibit, const FigureStyle& style, const figure::Page& page) {
    if (exhibit.panels.size() == 1 && exhibit.charts.empty()) {
        FigureStyle with_caption = style;
        with_caption.caption = exhibit.caption;
        return figure::drawn_heatmap(exhibit.panels.front().heatmap(), with_caption, page);
    }
    if (exhibit.alike && !style.lines) return drawn_grid(exhibit, style, page);
    figure::Canvas canvas(style.dark, page);
    FigureStyle bare = style;
    bare.caption.clear();
    bare.title = true;  // they would not be told apart
    const std::size_t columns =
        std::clamp<std::size_t>(exhibit.columns, 1, exhibit.panels.size() + exhibit.charts.size());
    const figure::Page part = page.part(columns);
    std::vector<Figure> figures;
    // Of a layer's heads as lines each has its own name and its own largest weight; the rest is said once.
    if (exhibit.alike) bare.bar = false;
    for (std::size_t i = 0; i < exhibit.panels.size(); ++i) {
        const Panel& panel = exhibit.panels[i];
        Heatmap heatmap = panel.heatmap();
        if (exhibit.alike) {
            const std::size_t row = i / columns;
            heatmap.title = row < exhibit.row_names.size() ? exhibit.row_names[row] + ", " + panel.label : panel.label;
            heatmap.subtitle.clear();
        }
        figures.push_back(figure::drawn_heatmap(std::move(heatmap), bare, part));
    }
    for (const Chart& chart : exhibit.charts) figures.push_back(drawn_chart(chart, bare, part));
    tile(canvas, std::move(figures), columns, heading_of(exhibit, style).bottom());
    if (!exhibit.charts.empty()) draw_chart_legend(canvas, exhibit.charts, canvas.inks());
    if (exhibit.alike && style.bar)
        canvas.paragraph(tr("Each line is a weight: the thicker, the larger. The thickest of each is its own largest."),
                         figure::margin, canvas.bottom() + 20,
                         canvas.text_width(std::max(320.0, canvas.right() - figure::margin)),
                         {figure::label_size, canvas.inks().quiet});
    canvas.heading(heading_of(exhibit, style).title, heading_of(exhibit, style).subtitle);
    if (style.notes) figure::draw_caption(canvas, exhibit.caption);
    return canvas.finished(name_of(exhibit));
}

}  // namespace

// The panels are told only while the figure is drawn first: a page's width may want it drawn again.
Figure exhibit_figure(const Exhibit& exhibit, const FigureStyle& style) {
    const InEnglish english;
    Said told(exhibit);
    bool tells = true;
    Exhibit shown = exhibit;
    for (Panel& panel : shown.panels)
        panel.heatmap = [&told, &tells, own = panel] {
            Heatmap heatmap = own.heatmap();
            if (tells) told.add(own, heatmap);
            return heatmap;
        };
    Figure figure = figure::fitted(style, [&](const figure::Page& page) {
        Figure once = drawn(shown, style, page);
        tells = false;
        return once;
    });
    figure.said = told.sentences();
    return figure;
}

namespace {

Figure drawn_chart(const Chart& chart, const FigureStyle& style, const figure::Page& page) {
    figure::Canvas canvas(style.dark, page);
    const double width = page.is_asked() ? std::max(page.room, 40.0) : plot_width;
    const ChartPlot plot{{figure::margin + 46, figure::margin + 46, width, width * plot_height_of_width},
                         axis_of(chart),
                         std::max<Index>(chart.blocks, 1),
                         chart.names};
    canvas.grow({plot.box.x, plot.box.y, plot.box.width, plot.box.height});
    canvas.put(figure::text_at(chart.title, figure::margin, figure::margin + 12,
                               {figure::title_size, canvas.inks().text, true}));
    const std::string caption = chart.caption + (plot.axis.logarithmic ? ", log" : "");
    canvas.put(
        figure::text_at(caption, figure::margin, figure::margin + 30, {figure::subtitle_size, canvas.inks().quiet}));
    draw_ticks(canvas, plot);
    draw_places(canvas, plot, chart.across);
    for (const ChartCurve& curve : chart.curves) draw_curve(canvas, plot, curve);
    return canvas.finished(chart.title);
}

Figure drawn_grid(const Exhibit& exhibit, const FigureStyle& style, const figure::Page& page) {
    figure::Canvas canvas(style.dark, page);
    if (exhibit.panels.empty()) return canvas.finished(exhibit.title);
    Grid grid;
    figure::LegendContents legend;
    figure::LegendStyle legend_style;
    figure::ColorBar bar;
    std::string note, row_axis, column_axis;
    for (std::size_t i = 0; i < exhibit.panels.size(); ++i) {
        Heatmap heatmap = exhibit.panels[i].heatmap();
        const ColorMap map = figure::take_colors(heatmap, style);
        if (i == 0) {
            grid = lay_out(exhibit, heatmap, style, page);
            bar = {heatmap.range, heatmap.scale, map, style.dark};
            row_axis = heatmap.row_axis;
            column_axis = heatmap.column_axis;
        }
        const figure::PlacedHeatmap placed{heatmap, grid.box(i), grid.cell, bar.map, style.dark, grid.most, page};
        draw_panel(canvas, exhibit, grid, i, exhibit.panels[i], placed, style);
        legend.add(heatmap);
        legend_style = {bar.map, style.dark, figure::hatch_spacing(placed), std::nullopt};
        if (placed.is_reduced()) note = figure::reduction_note(placed);
    }
    draw_row_names(canvas, exhibit, grid);
    const double left = figure::margin + (exhibit.row_names.empty() ? 0 : 20);
    const figure::Box last = grid.box(exhibit.panels.size() - 1);
    const figure::Box all{grid.first.x, grid.first.y, grid.box(grid.columns - 1).right() - grid.first.x,
                          last.bottom() - grid.first.y};
    figure::draw_column_name(canvas, column_axis, {all.x, all.y - label_room, all.width, 0}, grid.column_labels.reach,
                             left);
    const Heading heading = heading_of(exhibit, style);
    figure::draw_row_name(canvas, row_axis, all, left, heading.bottom());
    if (!exhibit.own_ranges) {
        legend_style.range = bar.range;
        if (style.bar)
            figure::draw_bar_at(canvas, bar, {all.x, all.y, all.width, std::min(all.height, 320.0)}, left, page);
    }
    figure::draw_legend(canvas, legend, legend_style, page.is_asked() ? figure::margin : all.x,
                        page.is_asked() ? page.width - figure::margin : std::max(all.right(), all.x + 480), note);
    canvas.heading(heading.title, heading.subtitle);
    if (style.notes) figure::draw_caption(canvas, exhibit.caption);
    return canvas.finished(exhibit.title + (exhibit.subtitle.empty() ? "" : ", " + exhibit.subtitle));
}

}  // namespace

}  // namespace decoderscope::core
