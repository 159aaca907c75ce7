#pragma once

#include "app/core/session/session.h"
#include "app/views/shell/view_state.h"

// The panels of the window, a file each. Each draws a part of what the session shows into an area, and adds what the
// person asked for to `commands`; none of them computes a number of the model.
namespace decoderscope {

void draw_toolbar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The boxes that tokens are typed into, and the tokens as chips. Its height is 0 for a model that reads no tokens.
[[nodiscard]] float input_bar_height(const Ui& ui, const Session& session, ViewState& state);
void draw_input_bar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_map(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// The stage: its tabs, and the one that is open.
void draw_stage(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// Whether the left button paints the mask where a switch says so, or always.
enum class Brush { switched, always };
// The row of heads, batch and layer that tabs share, 72 px high: head chips, counters, the mask brush's switch.
void draw_choices(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands,
                  Brush brush = Brush::switched);

void draw_step_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

void draw_inspector(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void draw_timeline(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
// Whether the laws of every forward pass hold of this run: a mark that opens the dialog that says more.
[[nodiscard]] float checks_mark_width(const Ui& ui);
void draw_checks_mark(const Ui& ui, const Session& session, ViewState& state, ImVec2 at);
void draw_checks_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// Offers what a process that is gone left unsaved, in one line under the toolbar. Returns how high it is.
[[nodiscard]] float draw_recovery_bar(const Ui& ui, const Session& session, ViewState& state, Area area,
                                      Commands& commands);
// The dialog that opens a model or a session: which one, how far it is read, what has to be asked, why it failed.
void draw_open_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// Opens it by itself where a model that is on its way takes long or asks something, and closes it when that is there.
void follow_opening(const Session& session, ViewState& state);
// What leaving it means for a model that asks, or that failed: nothing comes of it.
void leave_open_dialog(const Session& session, Commands& commands);
// Writes the work to its file, or asks for one.
void save_session(const Session& session, ViewState& state, Commands& commands);
// Closes the window where the person wants that: at once, after a question whether to save, or when that is done.
void follow_closing(const Session& session, ViewState& state);
void draw_dialogs(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
