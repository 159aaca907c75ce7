#pragma once

#include "app/core/picture/heatmap.h"
#include "app/core/session/scenario.h"

#include <optional>
#include <utility>

namespace decoderscope {

// Which batch row and which query head are looked at.
struct Place {
    Index batch = 0;
    Index head = 0;
    bool operator==(const Place&) const = default;
};

// Two axes of a tensor as the rows and columns of a picture; `fixed` holds the indices of the axes before them.
// A tensor of one axis is a single row.
struct Slice {
    Axes axes;
    Cell fixed;  // as long as the axes; the last two (or one) are ignored

    [[nodiscard]] Index rows() const { return axes.size() < 2 ? 1 : axes[axes.size() - 2].size; }
    [[nodiscard]] Index columns() const { return axes.empty() ? 1 : axes.back().size; }
    [[nodiscard]] Cell cell(Index row, Index column) const;
    // Where a cell of the tensor lies in the picture; nothing where it is on another batch row or head.
    [[nodiscard]] std::optional<std::pair<Index, Index>> find(const Cell& cell) const;
};

// The slice of a step at a place. A key/value head is the one that the query head reads; an axis of length 1 is always
// at 0. `query_heads` is nhead.
[[nodiscard]] Slice slice_of(const Step& step, Place place, Index query_heads);

// The place at which a cell of a step is seen.
[[nodiscard]] Place place_of(const Step& step, const Cell& cell, Place now, Index query_heads);

// Whether a step's values are never negative, and so get a sequential colour map.
[[nodiscard]] Scale scale_of(const Plan& plan, const Step& step);

// Which cells of a slice of a mask were painted by hand, [row, column].
[[nodiscard]] std::vector<std::uint8_t> painted_cells(const Step& mask, const Slice& slice);

// Which masks hide the cells of a slice, [row, column] of hidden_by; empty for steps that no mask acts on (and for the
// scores before it).
[[nodiscard]] std::vector<std::uint8_t> hidden_cells(const Run& run, const Step& step, const Slice& slice);

// The range that a step's colours span, over the whole tensor (every batch row and head), what is masked left out.
[[nodiscard]] Range range_of_step(const Run& run, const Step& step);

// What a heatmap has in common with others of its step, where that is known already: finding it takes a look at every
// cell.
struct KnownOfHeatmap {
    std::optional<Range> range;
    std::optional<std::vector<std::uint8_t>> hidden;
};

// The picture of a step at a place, from the values of this run. The step must have values.
[[nodiscard]] Heatmap heatmap_of(const Scenario& scenario, const Run& run, const Step& step, Place place,
                                 const KnownOfHeatmap& known = {});

}  // namespace decoderscope
