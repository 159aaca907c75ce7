#pragma once

#include "app/core/export/figure_canvas.h"

namespace decoderscope::figure {

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

// Next to the cells if they are high enough, else below them; there, text may begin at `left`.
void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left);

}  // namespace decoderscope::figure
