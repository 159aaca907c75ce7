#pragma once

#include "app/core/files/saved_view.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "engine/base/message.h"

#include <map>
#include <optional>
#include <string>

namespace decoderscope::views::dialogs {

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

}  // namespace decoderscope::views::dialogs
