#pragma once

#include "app/core/run/scenario.h"
#include "app/core/session/first_minute.h"
#include "app/core/session/session.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"
#include "engine/load/model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace decoderscope::views::inspector {

// The field that types over the selected cell.
struct TypeOverState {
    std::array<char, 64> text{};
    std::string shows;     // the cell and the value that the text was filled with
    bool editing = false;  // the keyboard is in the field
    bool refused = false;  // what was entered isn't a number, or doesn't fit; it stays so that it can be corrected
    bool entered = false;  // a number was entered, and its run isn't shown yet
    int take_back = 0;     // frames in which the keyboard is to return to the field
};

// Where something to try was first offered at a step.
struct OfferPlace {
    std::string id;
    Sentence label;
};

// The field that a note is written in.
struct NoteField {
    bool open = false;
    bool take = false;  // the keyboard is to go to the field
    std::string place;  // what the note is pinned to
    std::array<char, core::kLongestNote + 1> text{};
};

// What stands under the answer: how the number came to be, unless another is asked for.
enum class Section : std::uint8_t { terms, what_if, why, more };

// What the inspector remembers from frame to frame.
struct InspectorState {
    Section section = Section::terms;
    bool is_long = false;  // what was drawn last is higher than the panel
    TypeOverState typed;
    NoteField note;
    std::set<std::string> open_edits;  // the groups of edits that are listed one by one
    std::set<std::string> opened;      // the groups of terms that are open, by line and names
    std::string opened_in;             // the step that they belong to
    std::string what_if;               // what is tried, by its id; empty: nothing
    std::vector<OfferPlace> places;    // what was offered at cells of this step, in order
    std::string offers_of;             // the step
};

// `covered`: the height above the buttons at the foot that something else is drawn over.
void draw_inspector(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands,
                    float covered = 0.0F);
// The height of the buttons at its foot, which choose the section; 0 while there are none.
[[nodiscard]] float foot_height(const Ui& ui, const core::Session& session, const ViewState& state);

// The things to try: the model's own suggestions, then those of the tabs; at most three.
[[nodiscard]] std::vector<Suggestion> suggestions(const core::Session& session);
void follow(const Suggestion& suggestion, ViewState& state, Commands& commands);

// The guided first minute. It begins by itself where a model opens, as long as the introduction wasn't closed: its
// first stop is what is seen there, with what the model is, and nothing moves before the learner asks for it. Whoever
// goes elsewhere has left it.
struct FirstMinute {
    std::shared_ptr<const load::ModelInfo> of;  // the model that it is about
    std::vector<core::MinuteStop> stops;
    std::size_t at = 0;
    std::string introduced_at;  // the step that the introduction stands at; empty: it was left
    bool begun = false;         // the learner has done what the first stop asks for
    bool goes = false;          // to the stop that was reached, with the next frame
};
// Keeps it up with the session. Once a frame, before anything is drawn.
void follow_first_minute(const core::Session& session, ViewState& state);
void begin_first_minute(const core::Session& session, ViewState& state);
// Goes on to the next stop, or ends it. Returns whether it was on.
bool next_stop(ViewState& state);
// Takes it away, its introduction, too. Returns whether there was anything to take.
bool leave_first_minute(const core::Session& session, ViewState& state);
// Its sentence, in the panel's flow, and a ring around what is to be clicked. Returns whether it is on.
bool draw_first_minute(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// While no cell is selected: what this model is, what it says next, and what to click first.
[[nodiscard]] bool introduces_model(const core::Session& session, const ViewState& state);
void introduce_model(const Ui& ui, const core::Session& session, ViewState& state);
// Brings the introduction back, where the model opened.
void introduce_again(const core::Session& session, ViewState& state, Commands& commands);

// The sections of the inspector, from top to bottom. Each draws into the panel's flow.

// The companion runs that show what is tried at the selected cell; none while that isn't shown.
[[nodiscard]] core::CompanionRuns what_if_runs(const core::Session& session, const ViewState& state);
// What can be tried at the selected cell, and what it would change.
void inspect_what_ifs(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The gradients that are shown, or can be: those of the selected cell; in the backward pass what a gradient says and
// doesn't say.
void inspect_gradient(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// In the forward pass: the cell's own gradient, as a link to where it is computed.
void inspect_slope(const Ui& ui, const core::Session& session, Commands& commands);
// Says what the gradients are of, with a link that switches them off; draws nothing without gradients.
void list_gradients(const Ui& ui, const core::Session& session, Commands& commands);

// The row of the selected cell as a vector; nothing for steps that hold none.
void inspect_vector(const Ui& ui, const core::Session& session);

// How sharp the selected cell's query is, between which keys it hesitates, and what the keys' values make of its
// output; nothing outside attentions.
void inspect_pattern_row(const Ui& ui, const core::Session& session);

// For a score: the weights of the projections that make most of it. Nothing for other cells.
void inspect_score_weights(const Ui& ui, const core::Session& session, Commands& commands);

// What a norm does to the row of the selected cell; nothing for other steps.
void inspect_norm(const Ui& ui, const core::Session& session);

// How the selected cell was computed: the lines of its explanation. Groups of terms open by a click.
void explain_cell(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The steps, and which of their cells, that read the selected cell next, as links.
void inspect_readers(const Ui& ui, const core::Session& session, Commands& commands);
// For a cell of the residual stream: who wrote it.
void inspect_history(const Ui& ui, const core::Session& session, Commands& commands);

// The field that types over the selected cell, beside its value where there is room. Returns whether what is typed is
// no number.
bool type_over(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// All rows of the step as vectors, in a table; nothing for steps that hold none.
void list_vectors(const Ui& ui, const core::Session& session, Commands& commands);

// The note on the selected cell, or on the step, and the field that it is written in.
void inspect_note(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// All notes with links to their places, and one that pins another here.
void list_notes(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::inspector
