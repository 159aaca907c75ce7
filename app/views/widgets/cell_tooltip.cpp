#include "app/views/widgets/cell_tooltip.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>

namespace decoderscope {

namespace {

ImVec2 size_of(std::span<const TooltipLine> lines) {
    const ImGuiStyle& style = ImGui::GetStyle();
    ImVec2 size = {0, style.WindowPadding.y * 2};
    for (const TooltipLine& line : lines) {
        const ImVec2 text = compat::text_size(line.font, line.text);
        size = {std::max(size.x, text.x), size.y + text.y + style.ItemSpacing.y};
    }
    return {size.x + style.WindowPadding.x * 2, size.y};
}

ImVec2 place_of(const Ui& ui, const HeatmapGesture& gesture, ImVec2 size) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const Area &picture = gesture.picture, &cell = gesture.cell;
    const float gap = ui.px(6);
    const float x = std::clamp(picture.low.x, 0.0F, std::max(0.0F, std::max(picture.high.x, size.x) - size.x));
    // A little of the picture's lower edge may be covered, as long as it isn't the cell.
    const float below = std::min(picture.high.y + gap, screen.y - size.y);
    if (below >= std::max(picture.high.y - gap * 2.0F, cell.high.y + gap)) return {x, below};
    if (picture.low.y - gap - size.y >= 0.0F) return {x, picture.low.y - gap - size.y};
    const bool left = cell.low.x - picture.low.x > picture.high.x - cell.high.x,
               above = cell.low.y > screen.y - cell.high.y;
    return {left ? std::max(0.0F, cell.low.x - gap - size.x) : std::min(cell.high.x + gap, screen.x - size.x),
            above ? std::max(0.0F, cell.low.y - gap - size.y) : std::min(cell.high.y + gap, screen.y - size.y)};
}

}  // namespace

void place_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, int lines) {
    const float line = compat::font_size(ui.fonts.mono_small) + ImGui::GetStyle().ItemSpacing.y;
    const float height = ImGui::GetStyle().WindowPadding.y * 2.0F + line * static_cast<float>(lines);
    ImGui::SetNextWindowPos(place_of(ui, gesture, {ui.px(260), height}));
}

void draw_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, std::span<const TooltipLine> lines) {
    if (lines.empty()) return;
    ImGui::SetNextWindowPos(place_of(ui, gesture, size_of(lines)));
    if (!compat::begin_tooltip()) return;
    for (const TooltipLine& line : lines) text_line(line.font, line.color, line.text);
    ImGui::EndTooltip();
}

}  // namespace decoderscope
