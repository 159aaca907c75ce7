#pragma once

#include "app/core/session/session.h"
#include "app/core/tabs/step/spreadsheet.h"
#include "app/views/frame/cards.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"

#include <optional>
#include <string>

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

}  // namespace decoderscope::views::step
