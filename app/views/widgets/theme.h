#pragma once

#include "app/core/picture/colormap.h"
#include "app/core/picture/meaning.h"
#include "app/views/widgets/fonts.h"

#include <imgui.h>

namespace decoderscope {

class Textures;

// The colours of the window. One accent; everything else is quiet.
struct Theme {
    bool dark = true;
    ColorMap sequential = ColorMap::viridis;
    ImU32 background, panel, raised, line, text, muted, accent, accent_soft, warning, error;
};

[[nodiscard]] Theme make_theme(bool dark, ColorMap sequential = ColorMap::viridis);
// The colour map for a scale.
[[nodiscard]] ColorMap map_of(const Theme& theme, Scale scale);

// What every panel draws with.
struct Ui {
    const Fonts& fonts;
    const Theme& theme;
    Textures& textures;
    bool large_pointer = false;  // the cell that is pointed at is marked for the last row of a lecture hall

    // A length of the design, in pixels at a scale of 1, as pixels on this screen.
    [[nodiscard]] float px(float length) const { return length * fonts.scale; }
};

[[nodiscard]] ImU32 to_imgui(Rgba color);
[[nodiscard]] ImU32 with_alpha(ImU32 color, float alpha);
[[nodiscard]] Rgba to_rgba(ImU32 color);
// The colour of a meaning for graphics, on the theme that apply_style() was given: moved towards white or black where
// it takes that to be told from the ground.
[[nodiscard]] ImU32 color_of(Meaning meaning);
// The same colour for text: lighter on dark, darker on light, so that it is readable.
[[nodiscard]] ImU32 ink_of(Meaning meaning, const Theme& theme);

// Gives ImGui's own widgets the theme's colours and the design's dimensions.
void apply_style(const Theme& theme, float scale);

}  // namespace decoderscope
