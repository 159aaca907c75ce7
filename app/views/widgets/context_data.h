#pragma once

#include <imgui.h>

namespace decoderscope {

class GlyphDemand;
class KeyboardFocus;

// What the widgets of one ImGui context share. ImGui's IO refers to it, so that each widget finds it. The demand owns
// it, so without one there is none.
struct ContextData {
    GlyphDemand* demand = nullptr;
    KeyboardFocus* focus = nullptr;  // of the frame that is being drawn
};

// The current context's; nullptr if there is none.
[[nodiscard]] inline ContextData* context_data() { return static_cast<ContextData*>(ImGui::GetIO().UserData); }

}  // namespace decoderscope
