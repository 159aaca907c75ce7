// What needs ImGui's internal declarations.
#include "app/views/widgets/imgui_compat.h"

#include <imgui_internal.h>

namespace decoderscope::views::compat {

int open_popups() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }

void close_last_popup() {
    if (const int open = open_popups(); open > 0) ImGui::ClosePopupToLevel(open - 1, true);
}

bool in_front() {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    return context.OpenPopupStack.empty() ||
           ImGui::GetCurrentWindowRead()->RootWindow == context.OpenPopupStack.back().Window;
}

ImGuiID last_item() { return ImGui::GetItemID(); }

void open_list(ImGuiID combo) { ImGui::OpenPopupEx(ImHashStr("##ComboPopup", 0, combo)); }

void clear_active() { ImGui::ClearActiveID(); }

void cancel_tabbing() { ImGui::NavMoveRequestCancel(); }

}  // namespace decoderscope::views::compat
