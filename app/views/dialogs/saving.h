#pragma once

#include "app/core/files/saved_view.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope {

// The part of the window's state that is saved with the work, and how it is restored. Returns a message about what
// could not be restored: a lab of a newer program, or one that was saved differently.
[[nodiscard]] SavedView saved_view(const ViewState& state);
[[nodiscard]] Commands show_saved(ViewState& state, const SavedView& saved);

// What is open as a link, to and from the clipboard (app/core/files/link.h).

// Copies the link. If there can be none, the dialog that saves a session says why and offers the file instead.
void copy_link(const Session& session, ViewState& state, Commands& commands);

// Copies HTML that shows the stage within another page.
void copy_embedding(const Session& session, ViewState& state, Commands& commands);

// Opens the link on the clipboard.
void open_copied_link(const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
