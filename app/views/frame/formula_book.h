#pragma once

#include "app/core/sheet/draft.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::formulas {
struct BookLine;
}

namespace decoderscope::core {
class Session;
}

namespace decoderscope::views {

struct ViewState;

// What the book of formulas remembers from one time to the next.
struct FormulaBookState {
    std::string label;               // of the line that is chosen
    std::array<char, 128> search{};  // what was typed
    bool scrolls = false;            // the page is to be scrolled to that line
    std::optional<std::string> found_for;
    std::vector<const formulas::BookLine*> found;  // for what was typed
    std::vector<float> heights;          // of these, in pixels, as drawn last: what isn't seen is only left room for
    float width = 0.0F, letters = 0.0F;  // of the page, and of its text, as drawn then
};

// What the editor of a formula remembers while it is open.
struct FormulaEditorState {
    core::sheet::Draft draft;
    bool refused = false;  // Enter did nothing: the keyboard goes back to the formula
};

// Whether the current step's formula is the person's to change: of what another program recorded, their own rows are.
[[nodiscard]] bool can_be_written(const core::Session& session);
// Opens the editor on a step's formula, on the row that the step is, or on a new row beside it.
void write_formula(const core::Session& session, ViewState& state);
void write_row(const core::Session& session, ViewState& state);
// As write_row, for a row that must hold.
void write_check(const core::Session& session, ViewState& state);

// Opens the book, at a line if one is given.
void open_formulas(ViewState& state, std::string_view label = {});

}  // namespace decoderscope::views
