#include "app/core/export/figure_legend.h"

#include "app/core/text/numbers.h"
#include "app/core/text/text_width.h"

#include <cmath>

namespace decoderscope::figure {
namespace {

constexpr double entry_height = 20, swatch_width = 20, swatch_height = 13;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A fill of zero is expected and left out, as in the cells.
std::string mask_entry(const LegendContents::MaskKind& kind) {
    const bool says_fill = kind.fill && *kind.fill != 0.0F;
    return hidden_text(kind.causes) + (says_fill ? ": " + short_number_text(*kind.fill, 3) : "");
}

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
        const Mark mark = mark_of(value, heatmap.range);
        if (mark != Mark::none && (causes == hidden_by::nothing || mark == Mark::nan)) marks_.insert(mark);
    }
}

void draw_legend(Canvas& canvas, const LegendContents& contents, const LegendStyle& style, double left, double right,
                 const std::string& note) {
    Legend legend(canvas, left, right);
    for (const auto& [causes, kind] : contents.masks()) {
        // Coloured like its cells: if they all hold NaN, the swatch shows NaN.
        const bool all_nan = kind.fill && std::isnan(*kind.fill);
        const Rgba color = all_nan ? mark_color(Mark::nan, style.map, style.dark) : hidden_color(causes, style.dark);
        const Box swatch = legend.add(mask_entry(kind), color);
        draw_hatch(canvas, swatch, causes, style.spacing, style.dark);
        canvas.frame(swatch);
    }
    for (const Mark mark : contents.marks())
        canvas.frame(legend.add(mark_entry(mark, style.range), mark_color(mark, style.map, style.dark)));
    if (!note.empty()) legend.add_note(note);
}

}  // namespace decoderscope::figure
