#pragma once

#include "app/core/figure/export.h"
#include "app/core/figure/figure.h"
#include "app/core/files/saved_view.h"
#include "app/core/session/model_loader.h"
#include "app/core/session/names_table.h"
#include "app/core/session/paths_to_open.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/theme.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/message.h"

#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::views::dialogs {

// Where a figure is drawn: its origin on the screen, and pixels a unit.
struct PlacedFigure {
    ImVec2 origin;
    float scale = 1.0F;

    [[nodiscard]] ImVec2 at(double x, double y) const {
        return {origin.x + scale * static_cast<float>(x), origin.y + scale * static_cast<float>(y)};
    }
};

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

// The part of the window's state that is saved with the work, and how it is restored. Returns a message about what
// could not be restored: a tab of a newer program, or one that was saved differently.
[[nodiscard]] core::files::SavedView saved_view(const ViewState& state);
[[nodiscard]] Commands show_saved(ViewState& state, const core::files::SavedView& saved);

// What is remembered while work is saved.
struct SavingState {
    std::string path;                                 // the session's, as it is being typed
    Sentence because;                                 // why a session file is offered; empty: it was asked for
    std::optional<core::Command> next;                // what was to open before the user was asked; nothing: it closes
    bool then_goes_on = false;                        // the user was asked so, and wants to save first
    bool agreed = false;                              // or to go on without saving
    std::string replaces;                             // the file of which the user was asked whether to replace it
    std::map<std::string, std::string> unknown_tabs;  // what tabs of a newer program saved; kept for the next save
};

// Whether this path may be written now: nothing is there, or the user was asked and confirmed it with a second press.
// The first press asks: the caller shows `replacing` from then on.
[[nodiscard]] bool may_write(ViewState& state, const std::string& path, bool pressed);
// Whether the user was asked whether to replace what is at this path.
[[nodiscard]] bool replacing(const ViewState& state, const std::string& path);
// That question, or an empty line.
void draw_replacing(const Ui& ui, const ViewState& state, const std::string& path, float width);
// The button that writes it, with this text, or "Replace": as wide as either, so that those beside it stay.
[[nodiscard]] bool write_button(bool replaces, const char* text, const char* id);
// Writes the work to its file, or asks for one.
void save_session(const core::Session& session, ViewState& state, Commands& commands);

// What is open as a link, to and from the clipboard (app/core/files/link.h).

// Copies the link. If there can't be one, the dialog that saves a session says why and offers the file instead.
void copy_link(const core::Session& session, ViewState& state, Commands& commands);

// Copies HTML that shows the stage within another page.
void copy_embedding(const core::Session& session, ViewState& state, Commands& commands);

// Opens the link on the clipboard.
void open_copied_link(const core::Session& session, ViewState& state, Commands& commands);

// Something that the palette finds by name: an action, a step, a model, a setting.
struct PaletteEntry {
    std::string name;
    std::string note;   // a key, or what kind of thing it is
    bool first = true;  // listed before anything is typed
    std::function<void(const core::Session&, ViewState&, Commands&)> run;
    std::string english = {};  // the name in English, which finds it, too; empty: there is no other
    std::string words = {};    // some of which find it, too
};

// What the palette remembers while it is open.
struct PaletteState {
    std::array<char, 128> typed{};
    std::size_t chosen = 0;  // of those found
    std::vector<PaletteEntry> entries;
    PaletteEntry as_row;             // what is typed as a formula, as a row of one's own
    std::vector<std::size_t> found;  // of the entries, the best first; behind them stands `as_row`
    std::string found_for;           // what was typed then
    bool searched = false;
    bool has_options = false;  // the entries have the keys of the configuration
    bool scrolls = false;      // the chosen one has just changed by key
};

void draw_palette_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// All that can be found at once; keys of the configuration follow, once they were tried out. The labels are in the
// current language.
[[nodiscard]] std::vector<PaletteEntry> palette_entries(const core::Session& session, const ViewState& state);

// The entries that fit, best first; if nothing is typed, those that are listed first.
[[nodiscard]] std::vector<std::size_t> best_matches(const std::vector<PaletteEntry>& entries, std::string_view typed);

// A talk: states of the window with a sentence each, kept in the session, shown one after the other while presenting.

struct TalkPlace {
    std::optional<std::size_t> at;     // the state that is shown, while the talk is given
    std::optional<std::size_t> to_go;  // one whose run is asked for: the cursor goes there when it is computed
    std::size_t last = 0;              // where the talk goes on when it is taken up again
    std::string path;                  // of the page to be written
};

// Adds what is open as the last state; its sentence says what the picture shows, until it is typed over.
void add_talk_state(const core::Session& session, ViewState& state, Commands& commands);

// The states in order: sentences and notes to be typed, moved, shown, replaced, removed; written as a page or a PDF.
void draw_talk_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

// While presenting: → or Page Down goes on, ← or Page Up goes back, Enter returns to the state after edits. Returns
// whether a key was the talk's.
[[nodiscard]] bool run_talk_keys(const core::Session& session, ViewState& state, Commands& commands);

// The sentence of the state that is shown, at the foot of an area, while presenting. Returns its height: 0 without a
// talk. Called each frame: it takes the talk up when the presentation begins.
[[nodiscard]] float draw_talk(const Ui& ui, const core::Session& session, ViewState& state, Area area,
                              Commands& commands);

}  // namespace decoderscope::views::dialogs
