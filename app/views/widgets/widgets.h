#pragma once

#include "app/views/widgets/theme.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// The few small things that all panels are made of.
namespace decoderscope {

// The rectangle of a panel or of a part of one.
struct Area {
    ImVec2 low, high;

    [[nodiscard]] float width() const { return high.x - low.x; }
    [[nodiscard]] float height() const { return high.y - low.y; }
    [[nodiscard]] bool contains(ImVec2 at) const {
        return at.x >= low.x && at.x < high.x && at.y >= low.y && at.y < high.y;
    }
};

// Text at a place of its own, cut with "…" where it is wider than `width`. Returns how wide it came out.
float draw_text(const Ui& ui, ImFont* font, ImVec2 at, ImU32 color, std::string_view text, float width = 1e9F);
// How much of the text fits, with "…".
[[nodiscard]] std::string fitted(ImFont* font, std::string_view text, float width);

// Several lines of prose in the flow of the panel.
void paragraph(ImFont* font, ImU32 color, std::string_view text);
// One line in the flow of the panel.
void text_line(ImFont* font, ImU32 color, std::string_view text);

// A button that looks pressed while `on`.
[[nodiscard]] bool toggle_button(const Ui& ui, const char* label, bool on, const char* tooltip);
// Choices side by side, one of them chosen. Returns the one that was clicked, or -1.
[[nodiscard]] int segmented(const Ui& ui, const char* id, std::span<const char* const> labels, int chosen);
// A small text that can be clicked; underlined under the mouse.
[[nodiscard]] bool link(const Ui& ui, ImFont* font, ImU32 color, std::string_view text, int id);
// The tooltip of the item before, where the mouse rests on it.
void tooltip(const char* text);

// The icons that no font is sure to have.
enum class Icon { first, back, forward, last, play, pause, undo, redo };
[[nodiscard]] bool icon_button(const Ui& ui, const char* id, Icon icon, bool enabled, const char* tooltip);

// "batch  ◀ 0 ▶": a number out of `count`. Returns how far it was moved: −1, 0 or 1.
[[nodiscard]] int counter(const Ui& ui, const char* label, std::int64_t value, std::int64_t count);
// How wide that comes out.
[[nodiscard]] float counter_width(const Ui& ui, const char* label, std::int64_t value);

// The bar between two panels; drags `width`. `direction` is +1 where the panel lies left of the bar.
void splitter(const Ui& ui, const char* id, Area area, float& width, float direction, float least, float most);

}  // namespace decoderscope
