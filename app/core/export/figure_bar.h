#pragma once

#include "app/core/export/figure_canvas.h"

namespace decoderscope::figure {

// The colours of a range from its low end to its high end, with its exact ends and round numbers between.
struct ColorBar {
    Range range;
    Scale scale = Scale::diverging;
    ColorMap map = ColorMap::viridis;
    bool dark = false;
};

// Upright, the high end at the top, the numbers on its right.
void draw_upright_bar(Canvas& canvas, const ColorBar& bar, const Box& box);
// Level, the numbers below it.
void draw_level_bar(Canvas& canvas, const ColorBar& bar, const Box& box);

// Beside cells that are high enough, else below them; `left` is where text may begin there.
void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left);

}  // namespace decoderscope::figure
