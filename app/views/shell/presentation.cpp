#include "app/views/shell/presentation.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

constexpr float kSeconds = 0.15F;  // that a slide takes

bool at_edge(SlidePanel panel, Area whole, ImVec2 mouse, float edge) {
    if (!whole.contains(mouse)) return false;
    switch (panel) {
        case SlidePanel::bars:
            return mouse.y < whole.low.y + edge;
        case SlidePanel::map:
            return mouse.x < whole.low.x + edge;
        case SlidePanel::inspector:
            return mouse.x >= whole.high.x - edge;
        case SlidePanel::timeline:
            return mouse.y >= whole.high.y - edge;
    }
    return false;
}

}  // namespace

bool advance(PresentationState& state, const std::array<Area, kSlidePanels>& areas, Area whole, bool motion,
             float edge) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool menu = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const bool held = ImGui::IsAnyItemActive();  // a slider or a chip that is being dragged
    bool moves = false;
    for (std::size_t i = 0; i < kSlidePanels; ++i) {
        const bool on_it = state.pointed[i] && areas[i].contains(io.MousePos);
        if (!menu && !held) state.pointed[i] = on_it || at_edge(static_cast<SlidePanel>(i), whole, io.MousePos, edge);
        const float goal = state.asked[i] || state.pointed[i] ? 1.0F : 0.0F;
        const float step = motion ? io.DeltaTime / kSeconds : 1.0F;
        const float way = goal - state.visible[i];
        state.visible[i] += std::clamp(way, -step, step);
        moves = moves || state.visible[i] != goal;
    }
    return moves;
}

Area slid(Area area, SlidePanel panel, float visible) {
    const float x = std::floor(area.width() * (1.0F - visible)), y = std::floor(area.height() * (1.0F - visible));
    const auto moved = [&](float by_x, float by_y) {
        return Area{{area.low.x + by_x, area.low.y + by_y}, {area.high.x + by_x, area.high.y + by_y}};
    };
    switch (panel) {
        case SlidePanel::bars:
            return moved(0.0F, -y);
        case SlidePanel::map:
            return moved(-x, 0.0F);
        case SlidePanel::inspector:
            return moved(x, 0.0F);
        case SlidePanel::timeline:
            return moved(0.0F, y);
    }
    return area;
}

}  // namespace decoderscope
