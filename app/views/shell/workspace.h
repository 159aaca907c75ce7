#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/files/saved_session.h"
#include "app/core/session/session.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "engine/base/json.h"

#include <string>

namespace decoderscope::views::shell {

// Whether the model's files left something open that was assumed or asked; "What was assumed …" shows it.
[[nodiscard]] bool was_asked(const core::Session& session);

// Runs the actions whose keys went down in this frame.
void run_shortcuts(const core::Session& session, ViewState& state, Commands& commands);

// What is offered above the work.
struct OffersState {
    bool recovery_later = false;  // the offer to recover is put off until the next start
};

// What is said beside the work, in a column of this width: the progress of an export, and an error or a confirmation
// with what can be done with its file. The height is 0 where nothing is said. They lie in a window of their own, over
// what is there.
[[nodiscard]] float messages_height(const Ui& ui, const core::Session& session, const ViewState& state, float width);
void draw_messages(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
// Once there was time to read a confirmation, it goes by itself. An error stays until it is sent away, or something
// else is done.
void let_message_go(const core::Session& session, ViewState& state, Commands& commands);
// Offers to recover unsaved work of a process that has ended, in one line under the toolbar. Returns its height.
[[nodiscard]] float draw_recovery_bar(const Ui& ui, const core::Session& session, ViewState& state, Area area,
                                      Commands& commands);

// The numbers that are watched, one chip each, at the top of an area. Returns their height: 0 if there are none.
[[nodiscard]] float draw_watches(const Ui& ui, const core::Session& session, ViewState& state, Area area,
                                 Commands& commands);

// What the picture on the stage says in words, at the foot of an area, if it is asked for. Returns its height.
[[nodiscard]] float draw_said(const Ui& ui, const core::Session& session, ViewState& state, Area area,
                              Commands& commands);
// Shows or folds that; copies it, or says it aloud, whether or not it is shown.
void flip_said(ViewState& state);
void copy_said(const core::Session& session, ViewState& state, Commands& commands);
void speak_said(const core::Session& session, ViewState& state, Commands& commands);

// The picture on the stage in words, in the window's language; or why there are none.
[[nodiscard]] std::string picture_in_words(const core::Session& session, const ViewState& state);

// What the frame that was noted last says and offers (FrameDocument):
//   {"said": what the picture shows, in words, "parts": [{"part": "stage", "name": its heading, "items": [
//       {"kind": "heading", "text", "button", "field" or "table", "text", "id", "on", "hint", "disabled", "value",
//       "lines",
//        "table": {"key", "axes", "rows", "columns", "cells", "first", "all", "selected"}}, …]}, …]}
[[nodiscard]] Json document_json(const core::Session& session, const ViewState& state);

void draw_toolbar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Requests the companion runs that the open tab needs for what it shows, and drops those that are no longer needed.
void keep_companions(const core::Session& session, const ViewState& state, Commands& commands);

// The whole window: where the panels lie, and what the keys do. Draws what the session shows and returns what the user
// asked for.
[[nodiscard]] Commands draw_workspace(const Ui& ui, const core::Session& session, ViewState& state);

// What the window would show of a talk's state, as a picture, without a window: what the state's tab exports first; a
// tab that exports nothing leaves the state's step. It is computed before this returns. Throws Error if there is
// nothing to show.
[[nodiscard]] core::Exhibit stage_picture(const core::files::ShownState& shown);

}  // namespace decoderscope::views::shell
