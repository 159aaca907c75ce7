#pragma once

#include "app/views/frame/view_state.h"

#include <imgui.h>

namespace decoderscope {

inline void close_dialog(ViewState& state) {
    state.dialog = Dialog::none;
    ImGui::CloseCurrentPopup();
}

}  // namespace decoderscope
