#include "app/views/frame/window_layout.h"

#include "app/core/run/bounds.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

constexpr float kSeconds = 0.15F;  // that a slide takes

bool at_edge(SlidePanel panel, Area whole, ImVec2 mouse, float edge) {
    // By SlidePanel: how far the pointer is from the edge that the panel comes from.
    const std::array away = {mouse.y - whole.low.y, whole.high.x - mouse.x, whole.high.y - mouse.y};
    const bool from_end = panel != SlidePanel::bars;
    const float far = away[static_cast<std::size_t>(panel)];
    return whole.contains(mouse) && (from_end ? far <= edge : far < edge);
}

// Sizes that differ by rounding alone are the same.
constexpr float kSame = 1e-4F;

}  // namespace

bool is_low_window(const Ui& ui) { return ImGui::GetIO().DisplaySize.y < ui.px(640); }

InspectorWidth fit_inspector(float window, float wanted) {
    const float most = std::max(window - kLeastStage - kSplitter, kLeastInspector);
    if (wanted <= 0.0F || window - kLeastStage - kSplitter < kLeastInspector) return {0.0F, most};
    return {std::clamp(wanted, kLeastInspector, most), most};
}

bool advance(PresentationState& state, const std::array<Area, kSlidePanels>& areas, Area whole, bool motion,
             float edge) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool menu = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    const bool held = ImGui::IsAnyItemActive();  // a slider or a chip that is being dragged
    bool moves = false;
    for (std::size_t i = 0; i < kSlidePanels; ++i) {
        const bool on_it = state.pointed[i] && areas[i].contains(io.MousePos);
        // In a corner the pointer is at two edges: it calls one panel, not both.
        const bool called = std::none_of(state.pointed.begin(), state.pointed.begin() + static_cast<std::ptrdiff_t>(i),
                                         [](bool pointed) { return pointed; }) &&
                            at_edge(static_cast<SlidePanel>(i), whole, io.MousePos, edge);
        if (!menu && !held) state.pointed[i] = on_it || called;
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
    const std::array<ImVec2, kSlidePanels> by = {{{0.0F, -y}, {x, 0.0F}, {0.0F, y}}};  // by SlidePanel
    const ImVec2 moved = by[static_cast<std::size_t>(panel)];
    return {{area.low.x + moved.x, area.low.y + moved.y}, {area.high.x + moved.x, area.high.y + moved.y}};
}

ImVec2 opening_size(ImVec2 wanted, ImVec2 monitor) {
    const auto side = [](float length, float room) {
        return room > 0.0F ? std::min(std::max(length, std::floor(room * 0.8F)), room) : length;
    };
    return {side(wanted.x, monitor.x), side(wanted.y, monitor.y)};
}

std::span<const float> text_sizes() {
    static constexpr std::array sizes = {
        core::bounds::kTextScale.least, 0.7F, 0.8F, 0.9F, 1.0F, 1.1F, 1.25F, 1.5F, 1.75F, 2.0F, 2.25F, 2.5F,
        core::bounds::kTextScale.most};
    return sizes;
}

float largest_text_size(ImVec2 window) {
    const float most = std::min(window.x / kLeastRoom.x, window.y / kLeastRoom.y) + kSame;
    constexpr float kLegible = 0.3F;  // with a magnifying gesture of the browser
    float largest = std::clamp(most, kLegible, text_sizes().front());
    for (const float size : text_sizes())
        if (size <= most) largest = size;
    return largest;
}

float drawn_text_size(float wanted, float largest) { return std::min(wanted, largest); }

std::optional<float> larger_text_size(float drawn, float largest) {
    for (const float size : text_sizes())
        if (size > drawn + kSame && size <= largest + kSame) return size;
    return std::nullopt;
}

std::optional<float> smaller_text_size(float drawn) {
    std::optional<float> smaller;
    for (const float size : text_sizes())
        if (size < drawn - kSame) smaller = size;
    return smaller;
}

}  // namespace decoderscope::views
