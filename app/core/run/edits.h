#pragma once

#include "app/core/run/scenario.h"
#include "engine/graph/edit.h"
#include "engine/model/inputs.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Lists of edits, where a later edit of the same thing replaces an earlier one.
namespace decoderscope::core {

// Whether two edits are of the same thing, so that the later one replaces the earlier.
[[nodiscard]] bool is_same_thing(const Edit& a, const Edit& b);
// Puts an edit where another stands, or else where one of the same thing does, or at the end: a row that others read
// stays before them.
void put_edit(std::vector<Edit>& edits, const Edit& edit, const std::optional<Edit>& in_place_of = std::nullopt);
// Removes the edit, if any, of the same thing as `edit`.
void remove_target(std::vector<Edit>& edits, const Edit& edit);
void replace_edit(std::vector<Edit>& edits, Edit edit);
// Puts all of these in place of those of the same things.
void replace_edits(std::vector<Edit>& edits, std::span<const Edit> more);

// The edits that fit this scenario, which has none itself. Throws Error if it can't be run even without edits.
[[nodiscard]] std::vector<Edit> fitting_edits(Scenario scenario, const std::vector<Edit>& edits);

// The factor that the edits apply to a head's z: 1 if none does, 0 if it is off.
[[nodiscard]] float head_factor(const std::vector<Edit>& edits, const std::string& attention, Index head);

// Whether all other heads of this attention are off, and this one is not. `heads` is how many the attention has.
[[nodiscard]] bool is_solo(const std::vector<Edit>& edits, const std::string& attention, Index head, Index heads);

// The edits with all other heads of this attention switched off and this one as the model has it.
[[nodiscard]] std::vector<Edit> with_solo(std::vector<Edit> edits, const std::string& attention, Index head,
                                          Index heads);

// The edits with every head of this attention as the model has it.
[[nodiscard]] std::vector<Edit> without_factors(std::vector<Edit> edits, const std::string& attention);

// Manual changes of masks, as plain lists of edits and plain inputs: what the brush, the fills and the length handles
// do.

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

// The edits with the stroke painted over them. A cell that is as the stroke wants it without any edit needs none.
// `unedited` is that attention's mask without edits [batch, head, query, key]; it may be empty.
[[nodiscard]] std::vector<Edit> paint_masks(std::vector<Edit> edits, const MaskStroke& stroke, const Tensor& unedited);

// The edits without what was painted on an attention, in one batch row, for one head or all. Edits that
// reach further stay for the rest. `unedited` [batch, head, query, key] gives the number of rows and heads.
[[nodiscard]] std::vector<Edit> reset_masks(const std::vector<Edit>& edits, const std::string& attention, Index batch,
                                            std::optional<Index> head, const Tensor& unedited);

// The cells that a straight stroke passes, without the first and with the last.
[[nodiscard]] std::vector<MaskCell> cells_between(MaskCell from, MaskCell to);
// The cells outside a sliding window: key and query at least `width` apart. These are the cells that a sliding window
// of that width hides.
[[nodiscard]] std::vector<MaskCell> cells_outside_band(Index queries, Index keys, Index width);
[[nodiscard]] std::vector<MaskCell> cells_of_row(Index query, Index keys);
[[nodiscard]] std::vector<MaskCell> cells_of_column(Index key, Index queries);

// A padding mask [batch, length] with one row kept up to `kept` and padded after it. An absent mask first becomes one
// that keeps everything. Throws Error if the row or the length doesn't fit.
[[nodiscard]] Tensor with_kept_length(const Tensor& mask, Axes axes, Index batch, Index kept);
// How far a row of a padding mask reaches: the number of positions up to the last one kept.
[[nodiscard]] Index kept_length(const Tensor& mask, Index batch, Index length);

}  // namespace decoderscope::core
