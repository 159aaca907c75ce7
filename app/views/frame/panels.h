#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

// The panels of the window, one file each. Each draws a part of what the session shows into an area, and adds what the
// user asked for to `commands`; none of them computes any of the model's numbers.
namespace decoderscope {

struct Suggestion;

void draw_toolbar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The boxes that tokens are typed into, and the tokens as chips. The height is 0 for a model that reads no tokens.
[[nodiscard]] float input_bar_height(const Ui& ui, const Session& session, ViewState& state);
void draw_input_bar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// Unfolds or folds a panel beside the stage. One that is unfolded gets the room, if need be, of the other.
void show_map(ViewState& state, bool shown);
void show_inspector(ViewState& state, bool shown);
void draw_map(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The titles of the tabs. Returns their height.
[[nodiscard]] float draw_tabs(const Ui& ui, ViewState& state, Area area);
// The stage: the open tab.
void draw_stage(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// Whether the left button paints the mask only while a switch is on, or always.
enum class Brush { switched, always };
// The row of heads, batch and layer that several tabs share: head chips, counters, the mask brush's switch; in as many
// lines as the width needs.
[[nodiscard]] float choices_height(const Ui& ui, const Session& session, ViewState& state, float width,
                                   Brush brush = Brush::switched);
void draw_choices(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands,
                  Brush brush = Brush::switched);

void draw_step_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

void draw_inspector(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The same with edits and without: the first edit must not move what is being clicked.
[[nodiscard]] float timeline_height(const Ui& ui, const Session& session);
void draw_timeline(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The mark that tells whether the laws of every forward pass hold for this run. A click opens the dialog with the
// details.
[[nodiscard]] float checks_mark_width(const Ui& ui);
void draw_checks_mark(const Ui& ui, const Session& session, ViewState& state, ImVec2 at);
void draw_checks_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// An error or a confirmation under the toolbar, with what can be done with its file. Returns its height.
[[nodiscard]] float draw_message(const Ui& ui, const Session& session, ViewState& state, Area area);
// What this model does, and three things to try, one click each; until it is closed. Returns its height.
[[nodiscard]] float draw_introduction(const Ui& ui, const Session& session, ViewState& state, Area area,
                                      Commands& commands);
// The things to try: the model's own suggestions, then those of the tabs; at most three.
[[nodiscard]] std::vector<Suggestion> suggestions(const Session& session);
void follow(const Suggestion& suggestion, ViewState& state, Commands& commands);
// The glossary.
void draw_glossary_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// Offers to recover unsaved work of a process that has ended, in one line under the toolbar. Returns its height.
[[nodiscard]] float draw_recovery_bar(const Ui& ui, const Session& session, ViewState& state, Area area,
                                      Commands& commands);
// The dialog that opens a model or a session: the choice, the progress of reading, questions to answer, why it failed.
void draw_open_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// Opens that dialog automatically if a model being loaded takes long or asks something, and closes it once the model
// has arrived.
void follow_opening(const Session& session, ViewState& state);
// Leaving the dialog abandons a model that asks something, or that failed.
void leave_open_dialog(const Session& session, Commands& commands);
// Whether this path may be written now: nothing is there, or the user was asked and confirmed it with a second press.
// The first press asks: the caller shows `replacing` from then on.
[[nodiscard]] bool may_write(ViewState& state, const std::string& path, bool pressed);
// Whether the user was asked whether to replace what is at this path.
[[nodiscard]] bool replacing(const ViewState& state, const std::string& path);
// That question, or an empty line.
void draw_replacing(const Ui& ui, const ViewState& state, const std::string& path, float width);
// Writes the work to its file, or asks for one.
void save_session(const Session& session, ViewState& state, Commands& commands);
// Closes the window when the user asks for it: at once, after asking whether to save, or after saving.
void follow_closing(const Session& session, ViewState& state);
void draw_palette_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
void draw_dialogs(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
