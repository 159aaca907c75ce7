#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/colormap.h"
#include "app/core/run/snapshot.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/shown_step.h"

#include <optional>
#include <vector>

// Small pictures of steps: colours alone.
namespace decoderscope::core::step {

// The colours of a step's pictures, one row of pixels after the other, with the pictures as they are in the grid and
// nothing between them.
struct Pixels {
    static constexpr std::size_t kKept = 4;  // whoever shows them keeps them as a texture

    std::vector<Rgba> colors;
    Index width = 0, height = 0;
};

// How they are wanted.
struct PixelsWanted {
    PictureSize each;             // of a picture: at most its cells
    Index heads = 1, across = 1;  // how many pictures, and how many of them in a row of the grid
    Place place;                  // of several pictures, each has its own head
    ColorMap sequential = ColorMap::viridis;
    bool dark = true;
    std::optional<Range> range = {};  // that the colours span; nothing: the step's own

    [[nodiscard]] Index down() const { return (heads + across - 1) / across; }
};

// A pixel shows the strongest of its cells, as reduced_colors has it, so that no extreme can hide. Of a picture that
// comes by tiles (tiles.h) only its first rows are read. Empty while many numbers are being read. The step must have
// values.
[[nodiscard]] Value<Pixels> shown_pixels(Derived& derived, const Snapshot& shown, const Step& step,
                                         const PixelsWanted& wanted);

// A step's numbers at a place, as shown_heatmap has them; empty while a large tensor is read, and if the picture
// comes by tiles.
[[nodiscard]] Value<ShownHeatmap> shown_numbers(Derived& derived, const Snapshot& shown, const Step& step, Place place);

// What the colours of a step depend on, beside that: they are the same as long as these are.
[[nodiscard]] Origins painted_from(const Run& run, const Step& step);

}  // namespace decoderscope::core::step
