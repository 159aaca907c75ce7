#pragma once

#include "app/core/run/labels.h"
#include "app/core/run/slice.h"
#include "engine/load/model.h"

#include <optional>
#include <string>

namespace decoderscope::core {

// The user's position: a step by name, a place on its batch and head axes, a cell of it, and where the step belongs to
// no attention, the one that was looked at before and stays in sight; empty if that is the step's block's, or the
// first.
struct Cursor {
    std::string step;
    Place place;
    std::optional<Cell> cell;
    std::string attention = {};
    bool operator==(const Cursor&) const = default;
};

// Where to open: where the model's author suggests, otherwise on the first attention pattern, which shows most at a
// glance.
[[nodiscard]] Cursor opening_cursor(const Scenario& scenario, const Plan& plan);

// The attention whose heads and masks go with a step: its own; otherwise the one looked at before if that is of the
// same block, or its block's; outside all blocks the one before, at first the decoder's first.
[[nodiscard]] std::string attention_beside(const Plan& plan, const Step& step, const std::string& before);

// Forgets the attention that was looked at before unless it is there and changes what stays in sight. The cursor's step
// is in the plan.
void keep_attention(const Plan& plan, Cursor& cursor);

// Where a step shows a position of a sequence.

struct TokenPosition {
    TokenSequence sequence = TokenSequence::target;
    Index batch = 0;
    Index position = 0;
};

// Which of the axes that a picture of the step shows runs over the sequence, the rows before the columns.
[[nodiscard]] std::optional<std::size_t> axis_over(const Step& step, TokenSequence sequence);

// The cell to select for a position: in the row (or column) of the selected cell, otherwise at its largest number.
// Nothing if the step doesn't show the sequence. `query_heads` is nhead.
[[nodiscard]] std::optional<Cell> cell_at_position(const Run& run, const Step& step, const TokenPosition& at,
                                                   Place place, const std::optional<Cell>& selected, Index query_heads);

// The position of a sequence that a cell belongs to; nothing if the step doesn't show the sequence, or the cell is in
// another batch row.
[[nodiscard]] std::optional<Index> position_of(const Step& step, const Cell& cell, TokenSequence sequence, Index batch);

}  // namespace decoderscope::core
