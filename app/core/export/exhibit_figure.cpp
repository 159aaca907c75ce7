#include "app/core/export/exhibit_figure.h"

#include "app/core/export/figure_canvas.h"
#include "engine/in_english.h"

#include <algorithm>
#include <cctype>

namespace decoderscope {

using namespace figure;

namespace {

// Finished figures in rows of `columns`, each with its own axes and legend.
void tile(Canvas& canvas, std::vector<Figure> figures, std::size_t columns, double top) {
    constexpr double gap = 12;
    double y = top;
    for (std::size_t first = 0; first < figures.size(); first += columns) {
        const std::size_t last = std::min(first + columns, figures.size());
        double x = 0, height = 0;
        for (std::size_t i = first; i < last; ++i) {
            const double width = figures[i].width;
            height = std::max(height, figures[i].height);
            canvas.put(std::move(figures[i]), x, y);
            x += width + gap - margin;
        }
        y += height + gap - margin;
    }
}

// The samples of the runs' strokes and of the curves' colours, below all charts.
void draw_chart_legend(Canvas& canvas, const std::vector<Chart>& charts, const Inks& inks) {
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
                if (curve.dashed == dashed) add({curve.run, inks.text, dashed});
    for (const Chart& chart : charts)
        if (chart.curves.size() > 2)
            for (const ChartCurve& curve : chart.curves) add({curve.curve.name, curve.color, false});
    const double left = margin + 4, right = std::max(canvas.right(), 480.0);
    double x = left, y = canvas.bottom() + 22;
    for (const Entry& entry : entries) {
        const auto text = [&] { return text_at(entry.text, x + 34, y, {label_size, inks.text}); };
        if (x > left && text_box(text()).right() > right) {
            x = left;
            y += 20;
        }
        canvas.put(Polyline{{{x, y - 4}, {x + 28, y - 4}}, 1.75, entry.color, entry.dashed ? 5.0 : 0.0});
        canvas.put(text());
        x = text_box(text()).right() + 18;
    }
}

std::string name_of(const Exhibit& exhibit) {
    return exhibit.title + (exhibit.subtitle.empty() ? "" : ", " + exhibit.subtitle);
}

}  // namespace

std::string Panel::file_name() const {
    std::string name = label.empty() ? tensor : tensor + "." + label;
    std::erase_if(name, [](char c) { return c == ' '; });
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
    return name;
}

Panel panel_of(std::string tensor, Heatmap heatmap) {
    const Index rows = heatmap.rows, columns = heatmap.columns;
    return {std::move(tensor), "", rows, columns, [heatmap = std::move(heatmap)] { return heatmap; }};
}

Figure exhibit_figure(const Exhibit& exhibit, const FigureStyle& style) {
    const InEnglish english;
    if (exhibit.panels.size() == 1 && exhibit.charts.empty()) {
        FigureStyle with_caption = style;
        with_caption.caption = exhibit.caption;
        return heatmap_figure(exhibit.panels.front().heatmap(), with_caption);
    }
    if (exhibit.alike) return grid_figure(exhibit, style);
    Canvas canvas(style.dark);
    FigureStyle bare = style;
    bare.caption.clear();
    std::vector<Figure> figures;
    for (const Panel& panel : exhibit.panels) figures.push_back(heatmap_figure(panel.heatmap(), bare));
    for (const Chart& chart : exhibit.charts) figures.push_back(chart_figure(chart, bare));
    tile(canvas, std::move(figures), std::max<std::size_t>(exhibit.columns, 1),
         heading_bottom(exhibit.title, exhibit.subtitle));
    if (!exhibit.charts.empty()) draw_chart_legend(canvas, exhibit.charts, canvas.inks());
    canvas.heading(exhibit.title, exhibit.subtitle);
    draw_caption(canvas, exhibit.caption);
    return canvas.finished(name_of(exhibit));
}

}  // namespace decoderscope
