#include "app/views/widgets/row_layout.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace decoderscope::views {

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

namespace {

// Raises the lengths evenly towards their goals, as far as the room reaches. Returns what is left of it.
float raised(std::vector<float>& lengths, const std::vector<float>& goals, float room) {
    while (room > 0.5F) {
        const auto is_open = [&](std::size_t i) { return lengths[i] + 0.01F < goals[i]; };
        std::size_t open = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) open += is_open(i) ? 1 : 0;
        if (open == 0) return room;
        const float each = room / static_cast<float>(open);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (!is_open(i)) continue;
            const float more = std::min(each, goals[i] - lengths[i]);
            lengths[i] += more;
            room -= more;
        }
    }
    return room;
}

}  // namespace

SizeHint larger(const SizeHint& a, const SizeHint& b) {
    return {std::max(a.least, b.least), std::max(a.good, b.good), std::max(a.most, b.most)};
}

SizeHint sum(const SizeHint& a, const SizeHint& b) { return {a.least + b.least, a.good + b.good, a.most + b.most}; }

std::vector<float> shares(float room, std::span<const SizeHint> wants) {
    std::vector<float> lengths, good, most;
    for (const SizeHint& want : wants) {
        lengths.push_back(want.least);
        good.push_back(want.good);
        most.push_back(want.most);
        room -= want.least;
    }
    static_cast<void>(raised(lengths, most, raised(lengths, good, room)));
    return lengths;
}

}  // namespace decoderscope::views
