#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

#include <imgui.h>

namespace decoderscope {

// The dialog that is open, over the window.
void draw_dialogs(const Ui& ui, const Session& session, ViewState& state, Commands& commands);
// Closes the window when the user asks for it: at once, after asking whether to save, or after saving.
void follow_closing(const Session& session, ViewState& state);

// Closes the dialog that is being drawn.
inline void close_dialog(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

// The glossary.
void draw_glossary_dialog(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
