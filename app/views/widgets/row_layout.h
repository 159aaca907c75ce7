#pragma once

#include "app/views/widgets/widgets.h"

#include <functional>
#include <span>
#include <vector>

namespace decoderscope::views {

// One of several controls in a row: its width, the gap before it, and how it is drawn at ImGui's cursor.
struct FlowItem {
    float width, gap;
    std::function<void()> draw;
};

// Controls one after the other, in as many lines as the width needs. An item wider than the width has its own line.
[[nodiscard]] float flow_height(const Ui& ui, std::span<const FlowItem> items, float width);
void draw_flow(const Ui& ui, std::span<const FlowItem> items, Area area);

// The width of a button with this text.
[[nodiscard]] float button_width(const char* text);

// What one of several pictures can use of a length: at least so much, enough to be read, and no more than this.
struct SizeHint {
    float least = 0.0F, good = 0.0F, most = 0.0F;
};

// What both need beside each other, and one above the other.
[[nodiscard]] SizeHint larger(const SizeHint& a, const SizeHint& b);
[[nodiscard]] SizeHint sum(const SizeHint& a, const SizeHint& b);

// A room shared out: each gets its least, then up to what is good, then up to the most. What is left stays free; if the
// room doesn't hold the least of all, the sum is larger than the room.
[[nodiscard]] std::vector<float> shares(float room, std::span<const SizeHint> wants);

}  // namespace decoderscope::views
