#include "app/views/widgets/flow.h"

#include <vector>

namespace decoderscope {

namespace {

float line_height(const Ui& ui) { return ImGui::GetFrameHeight() + ui.px(6); }

// Where each item starts, from the first one's place on.
std::vector<ImVec2> starts_of(const Ui& ui, std::span<const FlowItem> items, float width) {
    std::vector<ImVec2> starts;
    ImVec2 at = {0, 0};
    for (const FlowItem& item : items) {
        const bool first = at.x == 0.0F;
        if (!first && at.x + item.gap + item.width > width) at = {0, at.y + line_height(ui)};
        if (at.x > 0.0F) at.x += item.gap;
        starts.push_back(at);
        at.x += item.width;
    }
    return starts;
}

}  // namespace

float flow_height(const Ui& ui, std::span<const FlowItem> items, float width) {
    return items.empty() ? 0.0F : starts_of(ui, items, width).back().y + line_height(ui);
}

void draw_flow(const Ui& ui, std::span<const FlowItem> items, Area area) {
    const std::vector<ImVec2> starts = starts_of(ui, items, area.width());
    for (std::size_t i = 0; i < items.size(); ++i) {
        ImGui::SetCursorScreenPos({area.low.x + starts[i].x, area.low.y + starts[i].y});
        ImGui::BeginGroup();
        items[i].draw();
        ImGui::EndGroup();
    }
}

float button_width(const char* text) { return ImGui::CalcTextSize(text).x + ImGui::GetStyle().FramePadding.x * 2.0F; }

}  // namespace decoderscope
