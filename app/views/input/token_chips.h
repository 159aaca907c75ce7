#pragma once

#include "app/core/generate/prediction.h"
#include "app/core/session/session.h"
#include "app/views/widgets/widgets.h"
#include "engine/tokenizer/tokenizer.h"

#include <optional>
#include <span>
#include <string>

namespace decoderscope::views::input {

// A token's colour: always the same for an id, and distinct from those of neighbouring ids.
[[nodiscard]] ImU32 chip_color(Index id, bool dark);

// One row of a batch as chips.
struct ChipRow {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: no padding
    Index first = 0;              // the first token to show
    bool from_end = false;        // show the end rather than the beginning
    // What the model predicts at each position, written below its chip; empty: nothing.
    std::span<const core::generate::Prediction> predictions = {};
    std::optional<Index> lit = {};  // the position that is selected
    bool clickable = false;         // a click selects a position
    bool numbered = false;          // each chip has its position's number before its token
};
// Whether there is room for the numbers: they push no token out of sight that would be seen without them.
[[nodiscard]] bool numbers_fit(const Ui& ui, const tokenizer::Tokenizer& tokenizer, ChipRow row, float width);

// What the mouse does to a row of chips.
struct ChipsTouched {
    std::optional<Index> clicked;  // a position
    std::optional<Index> asked;    // the position whose prediction is under the mouse
    Index page = 0;                // by how many tokens the notes before and after the chips ask to scroll
};

// Draws as many chips as fit into the area's width, and how many are left out. With predictions the lower half of the
// area is theirs, with an arrow left of it. A chip's tooltip tells its token, id and position.
ChipsTouched draw_chips(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const ChipRow& row, Area area);

// The tooltip of what the model predicts after a position: the most probable tokens, whether the first is right, and
// what it was without edits. `row` holds the predictions of that batch row.
void prediction_tooltip(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                        Index batch, Index position);

}  // namespace decoderscope::views::input
