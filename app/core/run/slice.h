#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/run/scenario.h"
#include "engine/graph/plan.h"
#include "engine/tensor/tensor.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope::core {

// The scenario with this row of its batch alone, as row 0, and with the edits that reach it: what is computed for one
// row many times need not be computed for the others as well. Nothing if the batch has no other rows, or if they may
// not be independent (dropout, a mistake), or if nothing is computed. `plan` is the scenario's.
[[nodiscard]] std::optional<Scenario> only_row(const Scenario& scenario, const Plan& plan, Index row);

// Reads tensors without storing on-demand values: values not computed yet are computed into the reader's own buffer,
// which the next call reuses.
class Reader {
public:
    // Valid until the next call.
    [[nodiscard]] std::span<const float> operator()(const Tensor& tensor);

private:
    std::vector<float> room_;
};

// Reads a mask [batch, head, query, key] a row at a time. If the mask was not read yet, its rules give the row: one
// number per head, query and key would need as much memory as the run's largest tensors.
class MaskRows {
public:
    explicit MaskRows(Tensor mask) : mask_(std::move(mask)), rules_(mask_.lazy<LazyRows>()) {
        if (rules_ != nullptr) room_.resize(static_cast<std::size_t>(mask_.dim(3)));
    }

    // 1 = kept, 0 = masked, [key]; valid until the next row is read.
    [[nodiscard]] std::span<const float> row(Index batch, Index head, Index query) {
        if (rules_ == nullptr) return mask_.row(Cell{batch, head, query, 0});
        const Index row = (batch * mask_.dim(1) + head) * mask_.dim(2) + query;
        rules_->rows(row, row + 1, room_);
        return room_;
    }

private:
    Tensor mask_;
    const LazyRows* rules_;
    std::vector<float> room_;
};

// The batch row and query head that are shown.
struct Place {
    static constexpr Index kAllHeads = -1;  // side by side: head·d_head columns

    Index batch = 0;
    Index head = 0;
    // For tensors with such an axis before their last two: the position, the expert of a stack of matrices, or the
    // index along a first axis without a name.
    Index outer = 0;
    bool operator==(const Place&) const = default;
};

// Two axes of a tensor as the rows and columns of a picture; `fixed` holds the indices of the axes before them.
// A tensor of one axis is a single row.
struct Slice {
    Axes axes;
    Cell fixed;                // as long as the axes; the last two (or one) are ignored
    bool joins_heads = false;  // of [batch, head, row, column]: all heads side by side

    [[nodiscard]] Index rows() const { return axes.size() < 2 ? 1 : axes[axes.size() - 2].size; }
    [[nodiscard]] Index columns() const {
        return axes.empty() ? 1 : axes.back().size * (joins_heads ? axes[1].size : 1);
    }
    [[nodiscard]] Cell cell(Index row, Index column) const;
    // Where a cell of the tensor lies in the picture; nothing if it is in another batch row or head.
    [[nodiscard]] std::optional<std::pair<Index, Index>> find(const Cell& cell) const;
};

// The numbers of a slice of a tensor, [row, column].
[[nodiscard]] std::vector<float> values_in(const Tensor& tensor, const Slice& slice);

// The slice of a step at a place. On a key/value head axis it takes the head that the query head reads; an axis of
// length 1 is always at 0. `query_heads` is nhead.
[[nodiscard]] Slice slice_of(const Step& step, Place place, Index query_heads);

// The axis that Place::outer goes along: positions before the slots of their experts, experts before their matrices, a
// recorded tensor's first axis if it has no name.
// Null if the step has none, or of length 1.
[[nodiscard]] const Axis* outer_axis(const Step& step);

// Where an operand is shown beside a result: all its heads if the result joins them.
[[nodiscard]] Place place_beside(const Step& operand, const Step& result, Place place);

// The place that shows a cell of a step.
[[nodiscard]] Place place_of(const Step& step, const Cell& cell, Place now, Index query_heads);

// The scale of a step's colours: sequential if its values are never negative, or, of a row of one's own, if none of
// them is; otherwise diverging.
[[nodiscard]] Scale scale_of(const Run& run, const Step& step);

// Which cells of a slice of a mask were painted by an edit, [row, column].
[[nodiscard]] std::vector<std::uint8_t> painted_cells(const Step& mask, const Slice& slice);

// Which masks hide the cells of a slice, [row, column] of hidden_by; empty for steps that no mask acts on (and for the
// scores before masking).
[[nodiscard]] std::vector<std::uint8_t> hidden_cells(const Run& run, const Step& step, const Slice& slice);
// As above, of one query of the mask that hides them: [key].
[[nodiscard]] std::vector<std::uint8_t> hidden_keys(const Run& run, const Step& mask, Index batch, Index head,
                                                    Index query);

// Which masks hide a cell of a mask [batch, head, query, key] that is 0.
[[nodiscard]] std::uint8_t hiding(const Step& mask, const Operands& operands, const Cell& cell);

// The range that a step's colours span: over the whole tensor (every batch row and head), without masked cells.
[[nodiscard]] Range range_of_step(const Run& run, const Step& step);

// What a heatmap shares with others of its step, if known already: computing it reads every cell.
struct KnownOfHeatmap {
    std::optional<Range> range;
    std::optional<std::vector<std::uint8_t>> hidden;
};

// The picture of a step at a place without its numbers, and what hides them: names, labels and scale.
[[nodiscard]] Heatmap empty_heatmap_of(const Scenario& scenario, const Run& run, const Step& step, Place place);

// The picture of a step at a place, from the values of this run. The step must have values.
[[nodiscard]] Heatmap heatmap_of(const Scenario& scenario, const Run& run, const Step& step, Place place,
                                 const KnownOfHeatmap& known = {});

}  // namespace decoderscope::core
