#pragma once

#include "app/core/figure/colormap.h"
#include "app/core/run/slice.h"

#include <cstdint>
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

// Whether the same masks hide the cells of every head: only a custom or a painted mask can differ between heads.
[[nodiscard]] bool hidden_alike(const Plan& plan, const Step& pattern);

// A step as it is drawn: its numbers and, for the pattern of an attention with a sink, one more column beside the keys.
// It has the weight that goes to no key, with which each row adds up to 1.
// The sink's step, [batch, head, query, 1], of a pattern [batch, head, query, key]; nullptr for every other step, and
// if there is no sink.
[[nodiscard]] Ref sink_beside(const Run& run, const Step& step);

// The columns of a slice's picture.
[[nodiscard]] Index picture_columns(const Run& run, const Step& step, const Slice& slice);

// The range that its colours span: that of the step, with the sink's.
[[nodiscard]] Range picture_range(const Run& run, const Step& step);
[[nodiscard]] Range with_sinks_range(Range range, const Run& run, const Step& step);

// Adds the sink's column to the picture of a slice, if there is one.
void put_sink_beside(Heatmap& heatmap, const Run& run, const Step& step, const Slice& slice);

// The picture of a step at a place, as heatmap_of with the sink's column.
[[nodiscard]] Heatmap picture_of(const Scenario& scenario, const Run& run, const Step& step, Place place);

// By cell of the picture [row, column]: 1 if its number isn't another run's, bit for bit, or the other has none there.
// Empty if the other doesn't have the step with these axes, or no number of it can differ.
[[nodiscard]] std::vector<std::uint8_t> changed_cells(const Run& run, const Run& other, const Step& step,
                                                      const Slice& slice, const Heatmap& heatmap);

// Which number a cell of the picture shows.
struct ShownNumber {
    Ref step;
    Cell cell;
};
[[nodiscard]] ShownNumber number_at(const Run& run, const Step& step, const Slice& slice, Index row, Index column);

}  // namespace decoderscope::core
