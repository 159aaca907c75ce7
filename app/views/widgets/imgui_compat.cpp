// What needs ImGui's internal declarations.
#include "app/views/widgets/imgui_compat.h"

#include <imgui_internal.h>

namespace decoderscope::compat {

int open_popups() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }

void close_last_popup() {
    if (const int open = open_popups(); open > 0) ImGui::ClosePopupToLevel(open - 1, true);
}

}  // namespace decoderscope::compat
