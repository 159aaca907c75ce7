#include "app/views/widgets/fonts.h"

#include "app/core/language/languages.h"
#include "app/core/text/characters.h"
#include "app/core/text/token_text.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>

namespace decoderscope::views {

namespace {

std::optional<std::filesystem::path> find_font(std::string_view file) {
    std::error_code ignored;
    for (const auto& root : platform::font_folders()) {
        if (!std::filesystem::is_directory(root, ignored)) continue;
        for (const char* below :
             {"", "inter", "jetbrains-mono", "dejavu", "opentype/inter", "truetype/inter", "truetype/jetbrains-mono",
              "truetype/dejavu", "TTF", "OTF", "opentype/noto", "truetype/noto", "noto-cjk", "google-noto-cjk",
              "truetype/wqy", "wqy-microhei", "truetype/droid", "droid", "truetype/ancient-scripts"}) {
            const auto path = root / below / file;
            if (std::filesystem::is_regular_file(path, ignored)) return path;
        }
    }
    return std::nullopt;
}

std::vector<char> read_all(const std::filesystem::path& path) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    if (failed) return {};
    std::vector<char> bytes(static_cast<std::size_t>(size));
    if (!std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        return {};
    return bytes;
}

GlyphDemand* demand_of_context() { return context_data() == nullptr ? nullptr : context_data()->demand; }

bool is_beyond_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }

// A font file that a package installs, and the ratio of its line height to its em: ImGui sizes a font by line height.
struct Face {
    const char* file;
    float line;
    int number = 0;  // in a collection
};

constexpr Face inter{"Inter-Regular.otf", 1.21F};
constexpr Face inter_heading{"Inter-SemiBold.otf", 1.21F};
constexpr Face jetbrains_mono{"JetBrainsMono-Regular.ttf", 1.32F};
constexpr Face dejavu{"DejaVuSans.ttf", 1.164F};
constexpr Face dejavu_bold{"DejaVuSans-Bold.ttf", 1.164F};
constexpr Face dejavu_mono{"DejaVuSansMono.ttf", 1.164F};

// Fonts with Chinese, Japanese and Korean, the best first; each is tens of megabytes.
constexpr std::array wide_faces{Face{"NotoSansCJK-Regular.ttc", 1.448F, 2},
                                Face{"NotoSansCJKsc-Regular.otf", 1.448F},
                                Face{"msyh.ttc", 1.32F},  // Windows' own
                                Face{"NotoSansSC-Regular.otf", 1.448F},
                                Face{"wqy-microhei.ttc", 1.17F},
                                Face{"wqy-zenhei.ttc", 1.17F},
                                Face{"DroidSansFallbackFull.ttf", 1.17F},
                                Face{"DroidSansFallback.ttf", 1.17F}};

// A font with emoji, in one colour.
constexpr Face symbola{"Symbola_hint.ttf", 1.268F};

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

// What the faces are loaded with.
struct Loading {
    ImFontAtlas& atlas;
    FontFiles& files;
    const ImWchar* ranges;
    const std::vector<const Face*>& wide;  // the faces with many characters that are needed and installed
};

// Adds a face at an em of `size` pixels; merged, only for the glyphs that the previous one lacks. Returns nullptr if it
// isn't installed.
ImFont* add(const Loading& loading, const Face& face, float size, bool merge = false) {
    const std::span<char> bytes = loading.files.bytes(face.file);
    if (bytes.empty()) return nullptr;
    ImFontConfig config;
    config.MergeMode = merge;
    config.FontNo = face.number;
    config.OversampleH = size < 24.0F ? 2 : 1;  // large glyphs are sharp enough, and would fill the atlas
    config.OversampleV = 1;
    config.GlyphRanges = loading.ranges;
    return compat::add_font(loading.atlas, bytes, size * face.line, config);
}

void add_wide(const Loading& loading, float size) {
    for (const Face* face : loading.wide) add(loading, *face, size, true);
}

// Adds the first of the faces that is installed, with `for_missing` for the glyphs that it lacks; if there is none,
// ImGui's own.
ImFont* add_first(const Loading& loading, float size, std::initializer_list<Face> faces, const Face& for_missing) {
    for (const Face& face : faces) {
        if (ImFont* font = add(loading, face, size)) {
            add(loading, for_missing, size, true);
            add_wide(loading, size);
            return font;
        }
    }
    ImFontConfig config;
    config.SizePixels = size;
    ImFont* font = loading.atlas.AddFontDefault(&config);
    add_wide(loading, size);
    return font;
}

// The baked ranges and these characters, as long as ImGui's characters can tell them.
std::vector<ImWchar> ranges_with(const std::set<char32_t>& characters) {
    std::vector<ImWchar> ranges(written.begin(), written.end() - 1);
    for (const char32_t code : characters)
        if (code <= compat::kLastCharacter) ranges.insert(ranges.end(), 2, static_cast<ImWchar>(code));
    ranges.push_back(0);
    return ranges;
}

// The first face with Chinese, Japanese and Korean that is installed, if any such character is needed; and that with
// emoji.
std::vector<const Face*> wide_faces_for(const GlyphDemand& demand) {
    std::vector<const Face*> found;
    const auto needed = [&](bool (*is_of)(char32_t)) {
        return std::ranges::any_of(demand.asked(), is_of) || std::ranges::any_of(demand.alphabet(), is_of);
    };
    const auto is_installed = [&](const Face& face) { return !demand.files->bytes(face.file).empty(); };
    if (needed(core::is_east_asian))
        if (const auto face = std::ranges::find_if(wide_faces, is_installed); face != wide_faces.end())
            found.push_back(&*face);
    if (needed(core::is_emoji) && is_installed(symbola)) found.push_back(&symbola);
    return found;
}

}  // namespace

std::span<char> FontFiles::bytes(std::string_view file) {
    if (const auto known = read_.find(file); known != read_.end()) return known->second;
    // One that is missing is searched for again: a page loads fonts on demand.
    const auto path = find_font(file);
    if (!path) return {};
    return read_.emplace(file, read_all(*path)).first->second;
}

void GlyphDemand::load_language() {
    if (language_ == &spoken()) return;
    language_ = &spoken();
    alphabet_ = core::language::alphabet_of(*language_);
}

void use_demand(GlyphDemand& demand) {
    demand.shared.demand = &demand;
    ImGui::GetIO().UserData = &demand.shared;
}

void note_glyphs(const ImFont* font, std::string_view text) {
    if (std::ranges::none_of(text, is_beyond_ascii)) return;
    GlyphDemand* demand = demand_of_context();
    if (demand == nullptr) return;
    for (const core::Utf8Character& character : core::characters(from_carriers(text)))
        if (character.code >= 0x80 && character.code != 0xFFFD && !compat::has_glyph(font, character.code))
            demand->note(character.code);
}

bool lacks_glyphs(std::string_view text) {
    const GlyphDemand* demand = demand_of_context();
    if (demand == nullptr || demand->missing().empty() || std::ranges::none_of(text, is_beyond_ascii)) return false;
    return std::ranges::any_of(core::characters(text),
                               [&](const core::Utf8Character& c) { return demand->missing().contains(c.code); });
}

std::string with_code_points(std::string_view text) {
    return core::with_code_points(text, demand_of_context()->missing());
}

void note_place(const ImDrawList& list, ImFont* font, ImVec2 at, std::string_view text) {
    if (FrameDocument* document = document_in_use()) document->note_text(list, font, at, text);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (mouse.x < at.x || mouse.y < at.y || mouse.y >= at.y + compat::font_size(font)) return;
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    if (mouse.x < low.x || mouse.x >= high.x || mouse.y < low.y || mouse.y >= high.y) return;
    if (mouse.x >= at.x + compat::text_size(font, text).x) return;
    if (GlyphDemand* demand = demand_of_context()) demand->under_mouse = std::string(text);
}

std::string text_under_mouse() {
    const GlyphDemand* demand = demand_of_context();
    return demand == nullptr ? std::string() : demand->under_mouse;
}

void forget_text_under_mouse() {
    if (GlyphDemand* demand = demand_of_context()) demand->under_mouse.clear();
}

Fonts load_fonts(ImFontAtlas& atlas, float scale, GlyphDemand& demand) {
    const float body = 15.0F * scale;
    const float small = 12.5F * scale;
    atlas.Clear();
    demand.load_language();
    demand.ranges = ranges_with(demand.asked());
    std::set<char32_t> both = demand.asked();
    both.insert(demand.alphabet().begin(), demand.alphabet().end());
    demand.prose_ranges = ranges_with(both);
    const std::vector<const Face*> wide = wide_faces_for(demand);
    const Loading loading{atlas, *demand.files, demand.ranges.data(), wide};
    const Loading prose{atlas, *demand.files, demand.prose_ranges.data(), wide};
    Fonts fonts;
    fonts.scale = scale;
    fonts.text = add_first(prose, body, {inter, dejavu}, dejavu);
    fonts.caption = add_first(prose, small, {inter, dejavu}, dejavu);
    fonts.heading = add_first(loading, 18.0F * scale, {inter_heading, dejavu_bold}, dejavu_bold);
    fonts.mono = add_first(loading, body, {jetbrains_mono, dejavu_mono}, dejavu_mono);
    fonts.mono_small = add_first(loading, small, {jetbrains_mono, dejavu_mono}, dejavu_mono);
    compat::set_default_font(fonts.text);
    if (!demand.asked().empty() || !demand.alphabet().empty()) compat::build(atlas);
    for (const char32_t code : demand.asked())
        if (!compat::has_glyph(fonts.mono, code) && !compat::has_glyph(fonts.text, code)) fonts.missing.push_back(code);
    for (const char32_t code : demand.alphabet())
        if (!compat::has_glyph(fonts.text, code)) fonts.lacking.push_back(code);
    demand.loaded({fonts.missing.begin(), fonts.missing.end()});
    return fonts;
}

}  // namespace decoderscope::views
