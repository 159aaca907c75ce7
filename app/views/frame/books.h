#pragma once

#include "app/core/glossary/glossary.h"
#include "app/core/sheet/draft.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::formulas {
struct BookLine;
}

// The books that the window opens: of formulas, and the glossary. Its terms are marked in texts and on labels: a dotted
// line below them, their meaning in a tooltip, and F1 on them opens the glossary there.
namespace decoderscope::views {

// What the glossary remembers from one time to the next.
struct GlossaryState {
    std::string term;                // the id of the entry that is shown
    std::array<char, 128> search{};  // what was typed
    bool scrolls = false;            // the list is to be scrolled to the entry
    std::string pointed_at;          // the id of the term under the mouse, as of the last frame; empty: none

    // Finds terms in texts; made again when the language changes.
    [[nodiscard]] const core::glossary::TermFinder& finder();
    // Shows a term's entry.
    void choose(const core::glossary::GlossaryTerm& term);

private:
    std::shared_ptr<const core::glossary::TermFinder> finder_;
    const void* language_ = nullptr;
};

// Opens the glossary, at a term if one is given.
void open_glossary(ViewState& state, std::string_view term = {});

// Makes the previous item a term: its tooltip says the meaning, after `before` if that says anything.
void explain_term(const Ui& ui, ViewState& state, const core::glossary::GlossaryTerm* term,
                  std::string_view before = {});

// A dotted line below a text at a place, of a width.
void dotted_line(const Ui& ui, ImVec2 at, float width, ImU32 color);

// One line in the panel's flow, which is a term.
void term_line(const Ui& ui, ViewState& state, TextStyle style, std::string_view text,
               const core::glossary::GlossaryTerm* term);
// Several lines of prose in the panel's flow, with the terms in it marked: a click opens the glossary.
void say(const Ui& ui, ViewState& state, TextStyle style, std::string_view text);
// Draws such prose, too, and returns the term that was clicked, for whoever does something else with the click.
const core::glossary::GlossaryTerm* prose_with_terms(const Ui& ui, ViewState& state, TextStyle style,
                                                     std::string_view text);

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
