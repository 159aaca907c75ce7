#pragma once

#include "app/core/figure/colormap.h"
#include "app/views/widgets/fonts.h"

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

namespace decoderscope::views {

// Pictures that the views draw with ImGui: one texture per key, uploaded again only when its version or size changed.
// Pixels are as IM_COL32 makes them, top row first. Drawn with compat::add_pixels, each stays a sharp square.
class Textures {
public:
    virtual ~Textures() = default;

    // The texture that holds this picture. `version` names the contents: the caller changes it whenever the pixels
    // change. Throws Error if the picture is larger than the machine's textures may be.
    virtual ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                               std::uint64_t version) = 0;
    // The texture if it already holds this version, so that the caller need not paint the pixels; otherwise null.
    virtual ImTextureID find(std::uint64_t key, std::uint64_t version) = 0;

    // Called after each frame: drops textures that were not used for some time.
    virtual void end_frame() = 0;
};

// The colours of the window. One accent; everything else is quiet.
struct Theme {
    bool dark = true;
    core::ColorMap sequential = core::ColorMap::viridis;
    ImU32 background, panel, raised, line, text, muted, accent, accent_soft, warning, error;
};

[[nodiscard]] Theme make_theme(bool dark, core::ColorMap sequential = core::ColorMap::viridis);
// The colour map for a scale.
[[nodiscard]] core::ColorMap map_of(const Theme& theme, core::Scale scale);

// How a text looks.
struct TextStyle {
    ImFont* font;
    ImU32 color;
};

// What every panel draws with.
struct Ui {
    const Fonts& fonts;
    const Theme& theme;
    Textures& textures;
    bool large_pointer = false;  // the cell that is pointed at is marked for the last row of a lecture hall

    // A length of the design, in pixels at a scale of 1, as pixels on this screen.
    [[nodiscard]] float px(float length) const { return length * fonts.scale; }

    [[nodiscard]] TextStyle title() const { return {fonts.heading, theme.text}; }
    [[nodiscard]] TextStyle body() const { return {fonts.text, theme.text}; }
    [[nodiscard]] TextStyle hint() const { return {fonts.text, theme.muted}; }  // in the place of what is missing
    [[nodiscard]] TextStyle caption() const { return {fonts.caption, theme.text}; }
    [[nodiscard]] TextStyle note() const { return {fonts.caption, theme.muted}; }
    [[nodiscard]] TextStyle number() const { return {fonts.mono_small, theme.text}; }
};

[[nodiscard]] ImU32 to_imgui(core::Rgba color);
[[nodiscard]] std::vector<std::uint32_t> to_imgui(const std::vector<core::Rgba>& colors);
[[nodiscard]] ImU32 with_alpha(ImU32 color, float alpha);
[[nodiscard]] core::Rgba to_rgba(ImU32 color);
// The colour of a meaning for graphics, on the theme that apply_style() was given: moved towards white or black where
// it takes that to be told from the ground.
[[nodiscard]] ImU32 color_of(Meaning meaning);
// The meaning's colour for text: lighter on dark, darker on light, so that it is readable.
[[nodiscard]] ImU32 ink_of(Meaning meaning, const Theme& theme);

// Gives ImGui's own widgets the theme's colours and the design's dimensions.
void apply_style(const Theme& theme, float scale);

}  // namespace decoderscope::views
