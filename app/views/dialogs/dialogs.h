#pragma once

#include "app/core/figure/export.h"
#include "app/core/session/model_loader.h"
#include "app/core/session/names_table.h"
#include "app/core/session/paths_to_open.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/export_choices.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/figure_view.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/message.h"

#include <imgui.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::dialogs {

// What the export dialog remembers, including from one export to the next.
struct ExportDialogState {
    std::vector<ExportChoice> choices;  // as of when it opened
    std::size_t chosen = 0;
    std::size_t format = 0;
    core::ExportOptions options;            // a crop is forgotten with what it was of
    std::string width, font_size = "8.25";  // as typed; an empty width is the figure's own
    bool inches = false;
    std::string dpi = "192";
    std::string path;
    bool typed = false;    // the path was typed by the user
    bool refocus = false;  // the field gets the keyboard back
    std::string said;      // what was copied

    // The picture as it would be written.
    struct Preview {
        std::size_t chosen = 0;
        core::ExportOptions options;  // that it was made with
        std::optional<core::Figure> figure;
        Sentence why_not;     // there is none
        core::Heatmap shown;  // the first heatmap, as cropped
        std::uint64_t version = 0;
    };
    std::optional<Preview> preview;
    PlacedFigure placed;  // where it was drawn last
    std::optional<std::array<Index, 2>>
        dragged_from;  // row and column of the picture; −1 along an axis that isn't dragged over
};

// The dialog that writes what is shown to a file, or copies it.
void draw_export_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// The progress of a slow export and a button that cancels it. The height is 0 if there is nothing to show.
[[nodiscard]] float export_progress_height(const Ui& ui, const core::Session& session);
void draw_export_progress(const Ui& ui, const core::Session& session, Area area, Commands& commands);

// Copies what the tab shows to the clipboard as CSV. Returns the message to show.
Sentence copy_shown_as_csv(const core::Session& session, const ViewState& state);
// What it says in words; empty while it is being computed. Throws Error if it can't be shown.
[[nodiscard]] std::vector<Sentence> shown_in_words(const core::Session& session, const ViewState& state);
// Copies it as a picture.
void copy_shown_as_picture(const core::Session& session, const ViewState& state, Commands& commands);

// What the dialog that opens a model remembers from frame to frame.
struct OpenDialogState {
    std::string path;        // or a link
    std::string listed_for;  // the path that `list` was made for
    core::PathList list;
    bool listed = false;
    int chosen = -1;                             // of the list, by the arrow keys; -1: none
    bool scrolls = false;                        // that comes into sight
    bool awaited = false;                        // a model is being loaded: the dialog closes when it has arrived
    bool refocus = false;                        // the path needs to be typed, or typed again
    bool goes_on = false;                        // behind what stands there, once the field has the keyboard
    std::string asked_about;                     // the model that the answers are about
    std::map<std::string, std::string> answers;  // by configuration key
    std::vector<core::NamesRow> names;           // what each tensor is recognised as, as changed in the form
    bool copied = false;                         // the lines of Python are on the clipboard
};

// The dialog that opens a model or a session: the choice, the progress of reading, questions to answer, why it failed.
void draw_open_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// Opens that dialog automatically if a model being loaded takes long or asks something, and closes it once the model
// has arrived.
void follow_opening(const core::Session& session, ViewState& state);
// Leaving the dialog abandons a model that asks something, or that failed.
void leave_open_dialog(const core::Session& session, Commands& commands);

// "Reading gpt2", and a bar of how much of it has been read.
void draw_reading(const Ui& ui, const std::string& name, core::ModelLoader::Progress progress, float width);
// "Computing gpt2", and a bar of how many of its steps are done.
void draw_computing(const Ui& ui, const std::string& name, core::WorkProgress& progress, float width);

// How the user left the form.
enum class QuestionsEnd { none, open, back };

// What a model's names and shapes tell, and a form for the rest, filled in with likely answers.
[[nodiscard]] QuestionsEnd draw_open_questions(const Ui& ui, const core::Opening& opening, OpenDialogState& open,
                                               float width, Commands& commands);

// The dialog that is open, over the window.
void draw_dialogs(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// The user wants to close the window: it closes at once if nothing worth a question is unsaved, otherwise a dialog
// asks.
void ask_to_close(const core::Session& session, ViewState& state, Commands& commands);
// As above, for a command: whether it waits for an answer, since it opens other work in the place of this.
[[nodiscard]] bool asks_before(const core::Session& session, ViewState& state, const core::Command& command);

// Closes the dialog that is being drawn.
inline void close_dialog(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

// The glossary.
void draw_glossary_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// The book of formulas: searched by typing, each line with a link to the first step of this run that it computes.
void draw_formulas_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// What the configuration could be instead: each key that fits the weights, to be changed in its line.
void draw_configuration_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// A formula as it is typed, a step's own or a row's: under it the mistake, or what it computes.
void draw_formula_editor(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::dialogs
