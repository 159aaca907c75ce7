#include "app/core/export/figure_bar.h"

#include "app/core/export/figure_ticks.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_width.h"

#include <algorithm>

namespace decoderscope::figure {
namespace {

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

}  // namespace

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

void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left) {
    if (cells.height >= 112) {
        draw_upright_bar(canvas, bar, {cells.right() + 20, cells.y, 12, cells.height});
        return;
    }
    // Aligned with the cells' left edge, unless the text at the bar's low end needs more room to its left.
    const double half = label_size * text_width_em(short_number_text(bar.range.low, 4), false, false) / 2;
    const double start = std::max(cells.x, left + half);
    draw_level_bar(canvas, bar, {start, cells.bottom() + 16, std::clamp(cells.width, 160.0, 320.0), 12});
}

}  // namespace decoderscope::figure
