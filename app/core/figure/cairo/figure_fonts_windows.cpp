// Faces from files: beside the program, the person's own, then Windows' own. There is no Fontconfig.
#include "app/core/figure/cairo/figure_fonts.h"

#include "engine/platform/folders.h"

#include <cairo-ft.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

namespace {

// A face that stays open as long as the program runs, as Cairo's caches hold it.
struct OpenFace {
    std::vector<char> bytes;
    FT_Face face = nullptr;
};

std::vector<char> file_of_font(const char* name) {
    for (const std::filesystem::path& folder : platform::font_folders()) {
        std::ifstream file(folder / name, std::ios::binary);
        if (file) return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    return {};
}

FT_Face open_face(const char* name) {
    static std::mutex opening;
    static std::map<std::string, OpenFace> faces;
    static FT_Library library = [] {
        FT_Library made = nullptr;
        FT_Init_FreeType(&made);
        return made;
    }();
    const std::lock_guard lock(opening);
    const auto [at, fresh] = faces.try_emplace(name);
    OpenFace& opened = at->second;
    if (fresh) opened.bytes = file_of_font(name);  // FreeType itself knows no wide names
    if (fresh && !opened.bytes.empty())
        FT_New_Memory_Face(library, reinterpret_cast<const FT_Byte*>(opened.bytes.data()),
                           static_cast<FT_Long>(opened.bytes.size()), 0, &opened.face);
    return opened.face;
}

using Names = std::span<const char* const>;

constexpr auto kProportional = std::to_array<const char*>({"Inter-Regular.otf", "segoeui.ttf", "arial.ttf"});
constexpr auto kBold =
    std::to_array<const char*>({"Inter-Bold.otf", "Inter-SemiBold.otf", "segoeuib.ttf", "arialbd.ttf"});
constexpr auto kMonospaced =
    std::to_array<const char*>({"JetBrainsMono-Regular.ttf", "consola.ttf", "DejaVuSansMono.ttf"});
constexpr auto kMonospacedBold =
    std::to_array<const char*>({"JetBrainsMono-Bold.ttf", "consolab.ttf", "DejaVuSansMono-Bold.ttf"});
constexpr auto kOthers = std::to_array<const char*>({"DejaVuSans.ttf", "segoeui.ttf", "seguisym.ttf", "cambria.ttc",
                                                     "msyh.ttc", "simsun.ttc", "NotoSansCJK-Regular.ttc"});

Names usual_names(bool bold, bool monospace) {
    if (monospace) return bold ? Names(kMonospacedBold) : Names(kMonospaced);
    return bold ? Names(kBold) : Names(kProportional);
}

// For code 0, the first font that exists.
FT_Face first_with(Names names, char32_t code) {
    for (const char* name : names)
        if (const FT_Face face = open_face(name); face != nullptr)
            if (code == 0 || FT_Get_Char_Index(face, code) != 0) return face;
    return nullptr;
}

}  // namespace

struct FigureFonts::Found {
    std::map<const void*, Cairo<cairo_font_face_t>> faces;  // by FreeType's
    Cairo<cairo_font_face_t> fallback;
};

FigureFonts::FigureFonts() : found_(std::make_unique<Found>()) {}
FigureFonts::~FigureFonts() = default;

cairo_font_face_t* FigureFonts::face_for(char32_t code, bool bold, bool monospace) {
    FT_Face face = first_with(usual_names(bold, monospace), code);
    if (face == nullptr) face = first_with(kOthers, code);
    if (face == nullptr) return nullptr;
    Cairo<cairo_font_face_t>& made = found_->faces[face];
    if (!made) made.reset(cairo_ft_font_face_create_for_ft_face(face, 0));
    return made.get();
}

// Without any font, only Cairo's own "sans" is left.
cairo_font_face_t* FigureFonts::usual_face(bool bold, bool monospace) {
    if (cairo_font_face_t* const face = face_for(0, bold, monospace)) return face;
    Cairo<cairo_font_face_t>& fallback = found_->fallback;
    if (!fallback)
        fallback.reset(cairo_toy_font_face_create("sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL));
    return fallback.get();
}

}  // namespace decoderscope::core
