#pragma once

#include "app/core/figure/colormap.h"
#include "app/core/run/slice.h"

#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

// The size of a head's small picture, in pixels.
struct PictureSize {
    Index width = 0, height = 0;
};

// A pattern's size in pixels, one per cell, with its sink's column; `most` at most.
[[nodiscard]] PictureSize picture_size(const Run& run, const Step& pattern);
[[nodiscard]] PictureSize picture_size(const Run& run, const Step& pattern, PictureSize most);

// From 0 to the largest weight, a sink's too, of all heads of these attentions in one batch row, so that their pictures
// are comparable.
[[nodiscard]] Range shared_range(const Run& run, std::span<const std::string> attentions, Index batch);

// Whether the same masks hide the cells of every head: only a custom or a painted mask can differ between heads.
[[nodiscard]] bool hidden_alike(const Plan& plan, const Step& pattern);

// The patterns of all heads of a layer side by side, as one picture of [height, head · width] pixels, row by row: the
// source for a grid of heads. A pixel that covers several cells shows the strongest, so that no extreme can hide;
// masked cells have the colour of what hides them, NaN its own.
[[nodiscard]] std::vector<Rgba> heads_side_by_side(const Run& run, const Step& pattern, Index batch, PictureSize each,
                                                   Range range, bool dark);

}  // namespace decoderscope::core
