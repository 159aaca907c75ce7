#pragma once

#include "app/core/run/slice.h"

// A step as it is drawn: its numbers and, for the pattern of an attention with a sink, one more column beside the keys.
// It has the weight that goes to no key, with which each row adds up to 1.
namespace decoderscope::core {

// The sink's step, [batch, head, query, 1], of a pattern [batch, head, query, key]; nullptr for every other step, and
// if there is no sink.
[[nodiscard]] Ref sink_beside(const Run& run, const Step& step);

// The columns of a slice's picture.
[[nodiscard]] Index picture_columns(const Run& run, const Step& step, const Slice& slice);

// The range that its colours span: that of the step, with the sink's.
[[nodiscard]] Range picture_range(const Run& run, const Step& step);

// Adds the sink's column to the picture of a slice, if there is one.
void put_sink_beside(Heatmap& heatmap, const Run& run, const Step& step, const Slice& slice);

// The picture of a step at a place, as heatmap_of with the sink's column.
[[nodiscard]] Heatmap picture_of(const Scenario& scenario, const Run& run, const Step& step, Place place);

// Which number a cell of the picture shows.
struct ShownNumber {
    Ref step;
    Cell cell;
};
[[nodiscard]] ShownNumber number_at(const Run& run, const Step& step, const Slice& slice, Index row, Index column);

}  // namespace decoderscope::core
