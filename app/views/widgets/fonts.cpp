#include "app/views/widgets/fonts.h"

#include "app/views/widgets/imgui_compat.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {
namespace {

// A font file that a package installs, and the ratio of its line height to its em: ImGui sizes a font by line height.
struct Face {
    const char* file;
    float line;
};

constexpr Face inter{"Inter-Regular.otf", 1.21F};
constexpr Face inter_heading{"Inter-SemiBold.otf", 1.21F};
constexpr Face jetbrains_mono{"JetBrainsMono-Regular.ttf", 1.32F};
constexpr Face dejavu{"DejaVuSans.ttf", 1.164F};
constexpr Face dejavu_bold{"DejaVuSans-Bold.ttf", 1.164F};
constexpr Face dejavu_mono{"DejaVuSansMono.ttf", 1.164F};

// First and last code points of the baked ranges: the characters of interface, formulas and European tokens.
constexpr auto written = std::to_array<ImWchar>({
    0x0020, 0x007E, 0x00A0, 0x017F,  // Latin
    0x0391, 0x03C9,                  // Greek
    0x2010, 0x2026,                  // dashes, quotation marks, bullet, ellipsis
    0x1D40, 0x1D40, 0x1D4F, 0x1D4F,  // raised T and k
    0x2070, 0x209C,                  // superscripts, subscripts
    0x211D, 0x211D,                  // the real numbers
    0x2190, 0x2199,                  // arrows
    0x21B5, 0x21B7, 0x21D0, 0x21D4,  // return, undo, redo; double arrows
    0x2200, 0x2265,                  // mathematical operators
    0x2295, 0x2299, 0x22A4, 0x22C5,  // circled operators, transposed, dot
    0x2423, 0x2423,                  // the space made visible
    0x25A0, 0x25CF,                  // geometric shapes
    0x2713, 0x2717,                  // tick, cross
    0x27E8, 0x27E9,                  // angle brackets
    0xFFFD, 0xFFFD,                  // stands for a missing glyph
    0,
});

std::vector<std::filesystem::path> font_folders() {
    std::vector<std::filesystem::path> roots{"/usr/local/share/fonts", "/usr/share/fonts"};
    if (const char* home = std::getenv("HOME")) {
        roots.insert(roots.begin(), std::filesystem::path(home) / ".fonts");
        roots.insert(roots.begin(), std::filesystem::path(home) / ".local/share/fonts");
    }
    std::vector<std::filesystem::path> folders;
    for (const auto& root : roots) {
        for (const char* below : {"", "inter", "jetbrains-mono", "dejavu", "opentype/inter", "truetype/inter",
                                  "truetype/jetbrains-mono", "truetype/dejavu", "TTF", "OTF"}) {
            folders.push_back(root / below);
        }
    }
    return folders;
}

std::optional<std::string> find_file(const Face& face) {
    for (const auto& folder : font_folders()) {
        std::error_code ignored;
        const auto path = folder / face.file;
        if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    return std::nullopt;
}

// Adds a face at an em of `size` pixels; with `merged_into`, only for the glyphs that the previous one lacks.
ImFont* add(ImFontAtlas& atlas, const Face& face, float size, bool merge = false) {
    const auto path = find_file(face);
    if (!path) return nullptr;
    ImFontConfig config;
    config.MergeMode = merge;
    config.OversampleH = size < 24.0F ? 2 : 1;  // large glyphs are sharp enough, and would fill the atlas
    config.OversampleV = 1;
    config.GlyphRanges = written.data();
    return atlas.AddFontFromFileTTF(path->c_str(), size * face.line, &config);
}

// Adds the first of the faces that is installed, with `for_missing` for the glyphs that it lacks; if there is none,
// ImGui's own.
ImFont* add_first(ImFontAtlas& atlas, float size, std::initializer_list<Face> faces, const Face& for_missing) {
    for (const Face& face : faces) {
        if (ImFont* font = add(atlas, face, size)) {
            add(atlas, for_missing, size, true);
            return font;
        }
    }
    ImFontConfig config;
    config.SizePixels = size;
    return atlas.AddFontDefault(&config);
}

}  // namespace

Fonts load_fonts(ImFontAtlas& atlas, float scale) {
    const float body = 15.0F * scale;
    const float small = 12.5F * scale;
    atlas.Clear();
    Fonts fonts;
    fonts.scale = scale;
    fonts.text = add_first(atlas, body, {inter, dejavu}, dejavu);
    fonts.caption = add_first(atlas, small, {inter, dejavu}, dejavu);
    fonts.heading = add_first(atlas, 18.0F * scale, {inter_heading, dejavu_bold}, dejavu_bold);
    fonts.mono = add_first(atlas, body, {jetbrains_mono, dejavu_mono}, dejavu_mono);
    fonts.mono_small = add_first(atlas, small, {jetbrains_mono, dejavu_mono}, dejavu_mono);
    compat::set_default_font(fonts.text);
    return fonts;
}

}  // namespace decoderscope
