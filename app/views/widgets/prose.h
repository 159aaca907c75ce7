#pragma once

#include "app/views/widgets/widgets.h"

#include <string>

namespace decoderscope {

// Prose in as many lines as it needs, at most `lines`; the last one is cut with "…". Returns the y below it.
float draw_prose(const Ui& ui, ImVec2 at, float width, ImU32 color, const std::string& text, int lines);

// Prose over several lines of an area, from its top. Returns the height used.
float text_block(const Ui& ui, ImFont* font, ImU32 color, Area area, const std::string& text);

}  // namespace decoderscope
