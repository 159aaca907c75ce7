#pragma once

#include "app/views/widgets/widgets.h"

#include <string>

namespace decoderscope {

// A heading and a paragraph in the middle of an area that has nothing else to show. Returns where the next line may
// start.
ImVec2 draw_empty_page(const Ui& ui, Area area, const std::string& heading, const std::string& text, ImU32 color);

}  // namespace decoderscope
