#pragma once

#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/figure_cells.h"
#include "app/core/figure/heatmap.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace decoderscope::core::figure {

// The masks and marks that occur in some heatmaps, collected one heatmap at a time.
class LegendContents {
public:
    // Cells masked by the same causes, and their fill if it is the same for all.
    struct MaskKind {
        std::uint8_t causes = hidden_by::nothing;
        std::optional<float> fill;
    };

    void add(const Heatmap& heatmap);
    [[nodiscard]] const std::map<std::uint8_t, MaskKind>& masks() const { return masks_; }
    // The marks that some cell shows; a masked cell shows none but NaN.
    [[nodiscard]] const std::set<Mark>& marks() const { return marks_; }

private:
    std::map<std::uint8_t, MaskKind> masks_;
    std::set<Mark> marks_;
};

// How the legend's heatmaps are drawn.
struct LegendStyle {
    ColorMap map = ColorMap::viridis;
    bool dark = false;
    double spacing = 7;          // of the hatches
    std::optional<Range> range;  // names what lies beyond it, if all heatmaps share it
};

// Draws the legend below everything drawn so far, from `left` on, in lines that reach to `right`; `note`, if any, gets
// its own line.
void draw_legend(Canvas& canvas, const LegendContents& contents, const LegendStyle& style, double left, double right,
                 const std::string& note);

// The colours of a range from its low end to its high end, labelled with its exact ends and round numbers between.
struct ColorBar {
    Range range;
    Scale scale = Scale::diverging;
    ColorMap map = ColorMap::viridis;
    bool dark = false;
};

// Vertical, the high end at the top, the numbers on its right.
void draw_upright_bar(Canvas& canvas, const ColorBar& bar, const Box& box);
// Horizontal, the numbers below it.
void draw_level_bar(Canvas& canvas, const ColorBar& bar, const Box& box);

// Next to the cells if they are high enough, otherwise below them; there, text may begin at `left`.
void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left);

// One tick of a colour bar: its place on the range, and its text.
struct Tick {
    double value = 0;
    std::string text;
};

// The ticks of a bar that is `length` long, from low to high: the ends of the range, to four significant digits, and
// round numbers between them where they do not touch. `room_of` returns how much of the length a text takes.
[[nodiscard]] std::vector<Tick> ticks(Range range, double length,
                                      const std::function<double(const std::string&)>& room_of);

}  // namespace decoderscope::core::figure
