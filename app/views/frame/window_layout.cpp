#include "app/views/frame/window_layout.h"

#include "app/views/frame/view_state.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views {

namespace {

// The room for both panels, once the stage, the bars between and the rails of folded panels have theirs.
float room_beside_stage(float window, bool map, bool inspector) {
    return window - kLeastStage - (map ? kSplitter : kRail) - (inspector ? kSplitter : kRail);
}

float least(bool map, bool inspector) { return (map ? kLeastMap : 0.0F) + (inspector ? kLeastInspector : 0.0F); }

constexpr float kSeconds = 0.15F;  // that a slide takes

bool at_edge(SlidePanel panel, Area whole, ImVec2 mouse, float edge) {
    // By SlidePanel: how far the pointer is from the edge that the panel comes from.
    const std::array away = {mouse.y - whole.low.y, mouse.x - whole.low.x, whole.high.x - mouse.x,
                             whole.high.y - mouse.y};
    const bool from_end = panel == SlidePanel::inspector || panel == SlidePanel::timeline;
    const float far = away[static_cast<std::size_t>(panel)];
    return whole.contains(mouse) && (from_end ? far <= edge : far < edge);
}

// Sizes that differ by rounding alone are the same.
constexpr float kSame = 1e-4F;

}  // namespace

bool is_low_window(const Ui& ui) { return ImGui::GetIO().DisplaySize.y < ui.px(640); }

PanelWidths fit_panels(float window, const WantedPanels& wanted) {
    bool map = !wanted.map_folded, inspector = !wanted.inspector_folded;
    const auto fits = [&] { return room_beside_stage(window, map, inspector) >= least(map, inspector); };
    if (map && inspector && !fits()) (wanted.map_first ? inspector : map) = false;
    if ((map || inspector) && !fits()) map = inspector = false;
    PanelWidths widths;
    const float room = room_beside_stage(window, map, inspector);
    if (map) widths.map = std::max(wanted.map, kLeastMap);
    if (inspector) widths.inspector = std::max(wanted.inspector, kLeastInspector);
    // What is too much is taken from both, in proportion to what each has to spare.
    const float spare_map = map ? widths.map - kLeastMap : 0.0F;
    const float spare_inspector = inspector ? widths.inspector - kLeastInspector : 0.0F;
    const float excess = widths.map + widths.inspector - room;
    if (excess > 0.0F && spare_map + spare_inspector > 0.0F) {
        const float part = std::min(excess / (spare_map + spare_inspector), 1.0F);
        widths.map -= spare_map * part;
        widths.inspector -= spare_inspector * part;
    }
    widths.most_map = std::max(room - widths.inspector, kLeastMap);
    widths.most_inspector = std::max(room - widths.map, kLeastInspector);
    return widths;
}

void show_map(ViewState& state, bool shown) {
    state.settings.map_folded = !shown;
    state.map_first = shown;
}

void show_inspector(ViewState& state, bool shown) {
    state.settings.inspector_folded = !shown;
    if (shown) state.map_first = false;
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
    const std::array<ImVec2, kSlidePanels> by = {{{0.0F, -y}, {-x, 0.0F}, {x, 0.0F}, {0.0F, y}}};  // by SlidePanel
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
    static constexpr std::array sizes = {0.6F, 0.7F,  0.8F, 0.9F,  1.0F, 1.1F, 1.25F,
                                         1.5F, 1.75F, 2.0F, 2.25F, 2.5F, 3.0F};
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
