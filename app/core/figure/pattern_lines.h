#pragma once

#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/heatmap.h"

namespace decoderscope::core {

// Which weights of a pattern are drawn as lines while no token is pointed at.
struct PatternLines {
    float largest = 0.0F;     // at most 1
    float least = 0.0F;       // lines have more weight than this
    bool leaves_out = false;  // some have less
};

// All weights above 0.02, or above half of the largest if that is less. A long pattern shows only its largest weights,
// about four per token: all lines together would be a block of one colour.
[[nodiscard]] PatternLines pattern_lines(const Heatmap& pattern);

namespace figure {

// An attention's weights as lines from its queries, on the left, to its keys, on the right, below `top`: the larger the
// weight, the wider and the stronger. Throws Error naming the tensor if it isn't a pattern, [query, key].
void draw_pattern(Canvas& canvas, const Heatmap& pattern, const FigureStyle& style, const Page& page, double top);

}  // namespace figure

}  // namespace decoderscope::core
