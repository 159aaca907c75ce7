#pragma once

#include "app/core/glossary/glossary.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

// Terms of the glossary in texts and on labels: a dotted line below them, their meaning in a tooltip, and F1 on them
// opens the glossary there.
namespace decoderscope::views {

struct ViewState;

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
void term_line(const Ui& ui, ViewState& state, ImFont* font, ImU32 color, std::string_view text,
               const core::glossary::GlossaryTerm* term);
// Several lines of prose in the panel's flow, with the terms in it marked: a click opens the glossary.
void say(const Ui& ui, ViewState& state, ImFont* font, ImU32 color, std::string_view text);
// Draws such prose, too, and returns the term that was clicked, for whoever does something else with the click.
const core::glossary::GlossaryTerm* prose_with_terms(const Ui& ui, ViewState& state, ImFont* font, ImU32 color,
                                                     std::string_view text);

}  // namespace decoderscope::views
