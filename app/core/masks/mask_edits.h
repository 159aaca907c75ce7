#pragma once

#include "engine/edit.h"
#include "engine/model/inputs.h"

#include <optional>
#include <utility>
#include <vector>

// Changes of masks by hand, as plain lists of edits and plain inputs: what the brush, the fills and the length handles
// do.
namespace decoderscope {

// A cell of a mask at a place on its other axes: query and key.
using MaskCell = std::pair<Index, Index>;

// Cells of one attention's mask, in one batch row, for one head or all.
struct MaskStroke {
    std::string attention;
    Index batch = 0;
    std::optional<Index> head;  // nothing: every head
    std::vector<MaskCell> cells;
    std::optional<bool> keep = false;  // nothing: as it was before any edit
};

// The edits with the stroke painted over them. A cell that without any edit is as the stroke wants it needs no edit.
// `unedited` is that attention's mask without edits [batch, head, query, key]; it may be empty.
[[nodiscard]] std::vector<Edit> paint_masks(std::vector<Edit> edits, const MaskStroke& stroke, const Tensor& unedited);

// The edits without what was painted on an attention, in one batch row, for one head or all. What was painted for more
// than that stays for the rest. `unedited` [batch, head, query, key] tells how many rows and heads there are.
[[nodiscard]] std::vector<Edit> reset_masks(const std::vector<Edit>& edits, const std::string& attention, Index batch,
                                            std::optional<Index> head, const Tensor& unedited);

// The cells that a straight stroke passes on its way, the first one left out and the last one with it.
[[nodiscard]] std::vector<MaskCell> cells_between(MaskCell from, MaskCell to);
// The cells outside a local window: key and query at least `width` apart. What a band of that width hides.
[[nodiscard]] std::vector<MaskCell> cells_outside_band(Index queries, Index keys, Index width);
[[nodiscard]] std::vector<MaskCell> cells_of_row(Index query, Index keys);
[[nodiscard]] std::vector<MaskCell> cells_of_column(Index key, Index queries);

// A padding mask [batch, length] with one row kept up to `kept` and padding behind it. An absent mask becomes one that
// keeps everything first. Throws Error where the row or the length doesn't fit.
[[nodiscard]] Tensor with_kept_length(const Tensor& mask, Axes axes, Index batch, Index kept);
// How far a row of a padding mask reaches: the number of positions up to the last one kept.
[[nodiscard]] Index kept_length(const Tensor& mask, Index batch, Index length);

}  // namespace decoderscope
