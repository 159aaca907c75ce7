#pragma once

#include "app/core/session/session.h"
#include "app/core/tabs/step/spreadsheet.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::step {

// The table of exact numbers in place of the Step tab's pictures, and what it remembers from frame to frame.
struct SheetState {
    bool open = false;
    std::string step;    // whose numbers; empty: the current step's
    std::string cursor;  // the current step when that was chosen
    core::step::SheetSort rows, columns;
    std::optional<Spot> pressed;           // where a block is being dragged from, as a place in the table
    std::optional<core::CellRect> chosen;  // the block that was dragged, in places of the table
    std::optional<Cell> followed;          // the selected cell that the table was last scrolled to
};

[[nodiscard]] bool sheet_is_open(const ViewState& state);
// Opens the table of the picture under the mouse, otherwise of the current step; or closes it.
void toggle_sheet(const core::Session& session, ViewState& state);
// Copies the chosen block, otherwise the whole table with its heads. Returns what to tell, and whether it failed.
[[nodiscard]] core::command::Tell copy_sheet(const core::Session& session, const ViewState& state);

void draw_spreadsheet(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

[[nodiscard]] Tab step_tab();

// How a step's pictures are laid out: operands, the operation between, the result.
struct Arrangement {
    std::vector<Card> operands;
    Area operation, result;
    bool downwards = false;     // the operands are above the result, otherwise left of it
    bool answer_first = false;  // the result is above them instead: a row's, which is what was asked for
    float bottom = 0.0F;        // of all; below the area's if its height leaves too little for cells that can be hit
};

// The operands beside the result or above it, however the cells of all of them become the most readable: square, large
// enough for their numbers, above all those of the result. The pictures share all of the area that is of use to them.
[[nodiscard]] Arrangement arrange(const Ui& ui, const core::Session& session, const Step& result, Area area);

}  // namespace decoderscope::views::step
