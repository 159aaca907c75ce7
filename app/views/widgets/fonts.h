#pragma once

struct ImFont;
struct ImFontAtlas;

namespace decoderscope {

// The faces of the program at their sizes: prose is proportional, numbers are monospaced. None is ever null.
struct Fonts {
    ImFont* text = nullptr;        // 15 px; the default
    ImFont* caption = nullptr;     // 12.5 px
    ImFont* heading = nullptr;     // 18 px, semi-bold
    ImFont* mono = nullptr;        // 15 px
    ImFont* mono_small = nullptr;  // 12.5 px
    float scale = 1.0F;            // what all sizes, and every other length on screen, are times
};

// Fills the atlas anew, outside of a frame: Inter and JetBrains Mono where the machine has them, else DejaVu, else
// ImGui's own face. Sizes are of the em, times `scale`.
[[nodiscard]] Fonts load_fonts(ImFontAtlas& atlas, float scale);

}  // namespace decoderscope
