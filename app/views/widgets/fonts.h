#pragma once

#include "app/views/widgets/glyphs.h"

#include <vector>

struct ImFont;
struct ImFontAtlas;

namespace decoderscope {

// The program's fonts at their sizes: prose is proportional, numbers are monospaced. After load_fonts, none is null.
struct Fonts {
    ImFont* text = nullptr;              // 15 px; the default
    ImFont* caption = nullptr;           // 12.5 px
    ImFont* heading = nullptr;           // 18 px, semi-bold
    ImFont* mono = nullptr;              // 15 px
    ImFont* mono_small = nullptr;        // 12.5 px
    float scale = 1.0F;                  // the factor of all sizes and of every other length on screen
    std::vector<char32_t> missing = {};  // characters that were asked for and that no installed font has
    std::vector<char32_t> lacking = {};  // the same of the window's language
};

// Refills the atlas; call outside of a frame. Uses Inter and JetBrains Mono if installed, else DejaVu, else ImGui's own
// font. Sizes are em sizes times `scale`. What `demand` asks for and the window's language needs is loaded, too, from
// any of these or from a font with Chinese, Japanese and Korean; it must outlive the atlas.
[[nodiscard]] Fonts load_fonts(ImFontAtlas& atlas, float scale, GlyphDemand& demand);

}  // namespace decoderscope
