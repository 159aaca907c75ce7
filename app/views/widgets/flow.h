#pragma once

#include "app/views/widgets/widgets.h"

#include <functional>
#include <span>

namespace decoderscope {

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

}  // namespace decoderscope
