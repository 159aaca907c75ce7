#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/colormap.h"
#include "app/core/run/snapshot.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/canvas/canvas_layout.h"

#include <vector>

namespace decoderscope::core::canvas {

// The place that a picture of a step shows: of a grid, the head of that number of the step; otherwise all heads side by
// side. Batch row and outer index are the selected ones.
[[nodiscard]] Place place_in(const Step& step, const Placed& placed, Index head, Place selected, Index query_heads);

// The colours of a step's pictures, one row of pixels after the other, with the pictures as they are in the grid and
// nothing between them.
struct Pixels {
    static constexpr std::size_t kKept = 4;  // whoever shows them keeps them as a texture

    std::vector<Rgba> colors;
    Index width = 0, height = 0;
};

// How they are wanted.
struct PixelsWanted {
    PictureSize each;  // of a picture: at most its cells
    Place selected;
    ColorMap sequential = ColorMap::viridis;
    bool dark = true;
};

// A pixel shows the strongest of its cells, as reduced_colors has it; the range is that of the step. Empty while many
// numbers are being read. The step must have values.
[[nodiscard]] Value<Pixels> shown_pixels(Derived& derived, const Snapshot& shown, const Step& step,
                                         const Placed& placed, const PixelsWanted& wanted);

// A step's numbers at a place, as step::shown_heatmap has them; empty while a large tensor is read.
[[nodiscard]] Value<step::ShownHeatmap> shown_numbers(Derived& derived, const Snapshot& shown, const Step& step,
                                                      Place place);

// What the colours of a step depend on, beside that: they are the same as long as these are.
[[nodiscard]] Origins painted_from(const Run& run, const Step& step);

}  // namespace decoderscope::core::canvas
