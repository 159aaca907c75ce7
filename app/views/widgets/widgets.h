#pragma once

#include "app/views/widgets/theme.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The small building blocks of all panels.
namespace decoderscope::views {

// The rectangle of a panel or of a part of one.
struct Area {
    ImVec2 low, high;

    [[nodiscard]] float width() const { return high.x - low.x; }
    [[nodiscard]] float height() const { return high.y - low.y; }
    [[nodiscard]] bool contains(ImVec2 at) const {
        return at.x >= low.x && at.x < high.x && at.y >= low.y && at.y < high.y;
    }
};

// Text at a given place, cut with "…" if it is wider than `width`. Returns the width used.
float draw_text(const Ui& ui, TextStyle style, ImVec2 at, std::string_view text, float width = 1e9F);
// As much of the text as fits, with "…".
[[nodiscard]] std::string fitted(ImFont* font, std::string_view text, float width);

// As above, cut in the middle: of names that begin alike, as "layers.1.cross_attn.o_proj.weight", the end tells them
// apart.
[[nodiscard]] std::string fitted_in_middle(ImFont* font, std::string_view text, float width);

// A label in as much room as it gets: whole, cut with "…", or, where that says too little, its first characters alone;
// of a special token, "<pad>", what stands in its brackets.
[[nodiscard]] std::string shortened(ImFont* font, const std::string& label, float width);

// Several lines of prose in the panel's flow, as wide as there is room or as `width`.
void paragraph(TextStyle style, std::string_view text);
void paragraph(TextStyle style, std::string_view text, float width);
// As above, in the current font and colour.
void prose_here(std::string_view text, float width);
// A word in small grey letters in a line of controls, as high as their texts.
void word_beside(const Ui& ui, std::string_view text);
// Draws such a word, and puts the next control behind it. `gap`: pixels at a scale of 1.
void word_before(const Ui& ui, std::string_view text, float gap = 6.0F);
// One line in the panel's flow.
void text_line(TextStyle style, std::string_view text);

// A line between two sections of a panel.
void section_line(const Ui& ui);
// The heading of a section.
void section_heading(const Ui& ui, std::string_view text);
// Text at the right edge of the current line; on a line of its own if there is no room.
void at_right_edge(const Ui& ui, TextStyle style, std::string_view text);

// A label with a separate id, which stays the same in every language.
[[nodiscard]] std::string labelled(std::string_view text, std::string_view id);
// A button with that text and id; as wide as its text, or as what is given.
[[nodiscard]] bool button(std::string_view text, std::string_view id, float width = 0.0F);

// A button that looks pressed while `on`.
[[nodiscard]] bool toggle_button(const Ui& ui, const char* label, bool on, const char* tooltip);
// Choices side by side, one of them chosen; in several lines where they are wider than `most`. Returns the one that was
// clicked, or -1.
[[nodiscard]] int segmented(const Ui& ui, const char* id, std::span<const char* const> labels, int chosen,
                            float most = std::numeric_limits<float>::infinity());
// A small text that can be clicked; underlined under the mouse.
[[nodiscard]] bool link(const Ui& ui, TextStyle style, std::string_view text, int id);
// As above, in as many lines as it needs in the width that is left.
[[nodiscard]] bool link_in_lines(const Ui& ui, TextStyle style, const std::string& text, int id);
// What lies there can be pressed, by Tab, too. Of several with the same id, each has its number.
bool press_at(const char* id, Area area, std::int64_t number = 0, std::string_view name = {});
// As above, by the mouse alone.
bool click_at(const char* id, Area area, std::int64_t number = 0);
// A button, and below it the menu that it opens, if it is open: then ImGui::EndPopup must follow. The tool tip may be
// nullptr.
[[nodiscard]] bool begin_menu_below(const Ui& ui, const std::string& label, const char* id, const char* tip);
// A part of the window that scrolls by itself. ImGui::EndChild must follow.
void begin_part(const char* id, Area area, ImGuiWindowFlags flags = 0);
// Such a part for what may need more height than it has. `draw` gets where to begin, and returns the y where it ended.
void scrolled(const char* id, Area area, const std::function<float(ImVec2)>& draw);
// The area with its scroll bar in the margin.
[[nodiscard]] Area with_scroll_bar(Area area);
// A list of rows of one height, as many as are seen at once, whole; the others by scrolling. `scroll` is called before
// they are drawn, within the part that scrolls, with the height that is seen: it may scroll to a row. `draw` draws a
// row into its area, which ends before the scroll bar.
void scrolled_rows(const Ui& ui, const char* id, Area area, float line, std::size_t count,
                   const std::function<void(std::size_t, Area)>& draw,
                   const std::function<void(float)>& scroll = nullptr);
// Whether the mouse asks about the previous item: it is over it. Once the item was pressed, not until it has left: what
// was asked for with that appears there.
[[nodiscard]] bool is_asked_about();
// The tooltip of the previous item, shown while the mouse rests on it.
void tooltip(const char* text);
// Shows a tooltip of these lines, the first one as a heading, while the mouse is in the area.
void area_tooltip(const Ui& ui, Area area, const std::vector<std::string>& lines);
// Like compat::begin_tooltip, with the tooltip below or above the area that it explains: never over it, and inside the
// window.
[[nodiscard]] bool begin_tooltip_beside(Area explained);

// Icons that a font may lack.
enum class Icon { first, back, forward, last, play, pause, undo, redo };
// `name`: for whoever doesn't see it, if its tooltip doesn't say.
[[nodiscard]] bool icon_button(const Ui& ui, const char* id, Icon icon, bool enabled, const char* tooltip,
                               std::string_view name = {});

// "batch ◀ 0 ▶": a number out of `count`. Returns the change: −1, 0 or 1.
[[nodiscard]] int counter(const Ui& ui, const char* label, std::int64_t value, std::int64_t count);
// The width of that.
[[nodiscard]] float counter_width(const Ui& ui, const char* label, std::int64_t value, std::int64_t count);

// The bar between two panels; drags `width`. `direction` is +1 if the panel is left of the bar.
void splitter(const Ui& ui, const char* id, Area area, float& width, float direction, float least, float most);

// Prose in as many lines as it needs, at most `lines`; the last one is cut with "…". Returns the y below it.
float draw_prose(const Ui& ui, ImVec2 at, float width, ImU32 color, const std::string& text, int lines);

// The text with line breaks, so that no line is wider. Not ImGui's own wrapping, which breaks numbers at their decimal
// point, and Chinese only before a space.
[[nodiscard]] std::string in_lines(ImFont* font, std::string_view text, float width);
// The same lines one by one.
[[nodiscard]] std::vector<std::string> lines_of(ImFont* font, std::string_view text, float width);

// Prose over several lines of an area, from its top. Returns the height used.
float text_block(const Ui& ui, TextStyle style, Area area, const std::string& text);

// A heading and a paragraph in the middle of an area that has nothing else to show. Returns where the next line may
// start.
ImVec2 draw_empty_page(const Ui& ui, Area area, const std::string& heading, const std::string& text, ImU32 color);

}  // namespace decoderscope::views
