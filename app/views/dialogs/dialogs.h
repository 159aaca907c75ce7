#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

#include <imgui.h>

namespace decoderscope::views::dialogs {

// The dialog that is open, over the window.
void draw_dialogs(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);
// The user wants to close the window: it closes at once if nothing worth a question is unsaved, otherwise a dialog
// asks.
void ask_to_close(const core::Session& session, ViewState& state, Commands& commands);

// Closes the dialog that is being drawn.
inline void close_dialog(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

// The glossary.
void draw_glossary_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::dialogs
