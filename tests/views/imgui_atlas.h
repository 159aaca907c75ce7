#pragma once

#include "app/views/widgets/imgui_compat.h"

// What only tests ask an atlas of fonts, in each version of Dear ImGui.
namespace decoderscope::testing {

#if IMGUI_VERSION_NUM >= 19280

// The texture that an atlas' glyphs are in.
[[nodiscard]] inline ImTextureID font_texture(const ImFontAtlas& atlas) { return atlas.TexRef.GetTexID(); }

[[nodiscard]] inline const ImVector<ImFontGlyph>& baked_glyphs(ImFont& font) {
    return font.GetFontBaked(font.LegacySize)->Glyphs;
}

// For a context without a backend: the number of its atlas' texture.
inline void name_texture(ImFontAtlas&) {}

#else

[[nodiscard]] inline ImTextureID font_texture(const ImFontAtlas& atlas) { return atlas.TexID; }
[[nodiscard]] inline const ImVector<ImFontGlyph>& baked_glyphs(ImFont& font) { return font.Glyphs; }
inline void name_texture(ImFontAtlas& atlas) { atlas.SetTexID(views::compat::texture_id(1)); }

#endif

// Visits every baked glyph of a font at the size that it was loaded with, with the corner of its picture in the
// texture: visit(code, u, v).
template <class Visit>
void each_glyph(ImFont& font, Visit visit) {
    for (const ImFontGlyph& glyph : baked_glyphs(font))
        if (glyph.Visible) visit(static_cast<ImWchar>(glyph.Codepoint), glyph.U0, glyph.V0);
}

// Bakes the atlas without a GPU. A context with no backend needs this before its first frame.
inline void bake_on_cpu(ImFontAtlas& atlas) {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
    name_texture(atlas);
}

}  // namespace decoderscope::testing
