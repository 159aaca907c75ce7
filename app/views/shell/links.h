#pragma once

#include "app/core/session/session.h"
#include "app/views/shell/view_state.h"

// What is open as a link, to and from the clipboard (app/core/work/link.h).
namespace decoderscope {

// Copies the link. If there can be none, the dialog that saves a session says why and offers the file instead.
void copy_link(const Session& session, ViewState& state, Commands& commands);

// Copies HTML that shows the stage within another page.
void copy_embedding(const Session& session, ViewState& state, Commands& commands);

// Opens the link on the clipboard.
void open_copied_link(const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
