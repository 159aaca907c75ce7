#include "app/core/figure/figure_legend.h"

#include "app/core/figure/cell_text.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

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

namespace {

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

Tick tick_at(double value) { return {value, short_number_text(value, 4)}; }

}  // namespace

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

}  // namespace decoderscope::core::figure
