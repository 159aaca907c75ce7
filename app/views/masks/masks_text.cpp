#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/imgui_compat.h"

namespace decoderscope {

float draw_finding(const MasksScene& scene, ImVec2 at, float width, ImU32 dot, const std::string& text,
                   const char* tip) {
    const Ui& ui = scene.ui;
    const float line = compat::font_size(ui.fonts.caption), indent = ui.px(14);
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + ui.px(4), at.y + line * 0.5F + ui.px(1)}, ui.px(3), dot, 12);
    const float bottom = draw_prose(ui, {at.x + indent, at.y}, width - indent, ui.theme.text, text, 2);
    area_tooltip(ui, {at, {at.x + width, bottom}}, {text, tip});
    return bottom;
}

void area_tooltip(const Ui& ui, Area area, const std::vector<std::string>& lines) {
    if (lines.empty() || !ImGui::IsWindowHovered() || !area.contains(ImGui::GetIO().MousePos)) return;
    if (!compat::begin_tooltip()) return;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!lines[i].empty())
            paragraph(ui.fonts.caption, i == 0 ? ui.theme.text : ui.theme.muted, lines[i],
                      ImGui::GetFontSize() * 24.0F);
    ImGui::EndTooltip();
}

}  // namespace decoderscope
