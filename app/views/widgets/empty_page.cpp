#include "app/views/widgets/empty_page.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>

namespace decoderscope {

ImVec2 draw_empty_page(const Ui& ui, Area area, const std::string& heading, const std::string& text, ImU32 color) {
    const float width = std::min(area.width(), ui.px(500)), x = area.low.x + (area.width() - width) * 0.5F;
    float y = area.low.y + std::max(ui.px(24), area.height() * 0.22F);
    if (!heading.empty()) {
        draw_text(ui, ui.fonts.heading, {x, y}, ui.theme.text, heading, area.high.x - x);
        y += ui.px(34);
    }
    ImGui::SetCursorScreenPos({x, y});
    paragraph(ui.fonts.text, color, text, width);
    return {x, ImGui::GetCursorScreenPos().y + ui.px(8)};
}

}  // namespace decoderscope
