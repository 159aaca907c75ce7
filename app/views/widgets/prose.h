#pragma once

#include "app/views/widgets/widgets.h"

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// Prose in as many lines as it needs, at most `lines`; the last one is cut with "…". Returns the y below it.
float draw_prose(const Ui& ui, ImVec2 at, float width, ImU32 color, const std::string& text, int lines);

// The text with line breaks, so that no line is wider. Not ImGui's own wrapping, which breaks numbers at their decimal
// point, and Chinese only before a space.
[[nodiscard]] std::string in_lines(ImFont* font, std::string_view text, float width);
// The same lines one by one.
[[nodiscard]] std::vector<std::string> lines_of(ImFont* font, std::string_view text, float width);

// Prose over several lines of an area, from its top. Returns the height used.
float text_block(const Ui& ui, ImFont* font, ImU32 color, Area area, const std::string& text);

}  // namespace decoderscope
