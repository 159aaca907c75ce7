#pragma once

#include "engine/base/translate.h"

#include <imgui.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::views {

// The installed fonts' files, each read once: one of Chinese has tens of megabytes, and each size of text needs it.
class FontFiles {
public:
    // The bytes of a file by its name, in the folders that packages install fonts to; empty if none has it or it can't
    // be read. What an atlas was filled with must outlive the atlas.
    [[nodiscard]] std::span<char> bytes(std::string_view file);

private:
    std::map<std::string, std::vector<char>, std::less<>> read_;
};

class FrameDocument;
class GlyphDemand;
class KeyboardFocus;

// What the widgets of one ImGui context share. ImGui's IO refers to it, so that each widget finds it. The demand owns
// it, so without one there is none.
struct ContextData {
    GlyphDemand* demand = nullptr;
    // Of the frame that is being drawn:
    KeyboardFocus* focus = nullptr;
    FrameDocument* document = nullptr;
};

// The current context's; nullptr if there is none.
[[nodiscard]] inline ContextData* context_data() { return static_cast<ContextData*>(ImGui::GetIO().UserData); }

// What drawing texts tells the next frame. The characters that texts on the screen need and the fonts were not loaded
// with: an atlas of all of Unicode would take minutes and gigabytes. Drawing notes them; before the next frame the
// fonts are loaded again with them.
class GlyphDemand {
public:
    // At most this many, so that the texture stays within what every GPU can hold.
    static constexpr std::size_t kMost = 1500;

    explicit GlyphDemand(std::shared_ptr<FontFiles> fonts = std::make_shared<FontFiles>()) : files(std::move(fonts)) {}

    // A character of a text has no glyph.
    void note(char32_t code) {
        if (asked_.size() < kMost && asked_.insert(code).second) grew_ = true;
    }
    // Whether the fonts must be loaded again: for new characters, or for another language.
    [[nodiscard]] bool grew() const { return grew_ || language_ != &spoken(); }
    [[nodiscard]] const std::set<char32_t>& asked() const { return asked_; }
    // The characters of the language that is spoken. Its texts are drawn by many functions, so they are all loaded.
    [[nodiscard]] const std::set<char32_t>& alphabet() const { return alphabet_; }
    // To be called before the fonts are loaded.
    void load_language();
    // The fonts have been loaded, without these of the characters that were asked for.
    void loaded(std::set<char32_t> missing) {
        grew_ = false;
        missing_ = std::move(missing);
    }
    // What no font has: such a character is written by its code point.
    [[nodiscard]] const std::set<char32_t>& missing() const { return missing_; }

    // What the atlas reads while it is built, and so must live as long as it.
    std::vector<ImWchar> ranges, prose_ranges;
    std::shared_ptr<FontFiles> files;

    std::string under_mouse;  // the last text that was drawn under the mouse in this frame
    ContextData shared;       // of the context that uses this demand

private:
    std::set<char32_t> asked_, alphabet_, missing_;
    const Catalog* language_ = nullptr;  // that alphabet_ is of
    bool grew_ = false;
};

// Makes the current context note missing glyphs there; it must outlive the context.
void use_demand(GlyphDemand& demand);
// Notes the characters of a text that the font has no glyph for. Cheap for a text without any.
void note_glyphs(const ImFont* font, std::string_view text);
// Whether the text has a character that no font has; then it is drawn as `with_code_points` has it.
[[nodiscard]] bool lacks_glyphs(std::string_view text);
[[nodiscard]] std::string with_code_points(std::string_view text);
// Notes a text that is drawn there: if the mouse is on it, so that F1 can explain it, and in the frame's document.
void note_place(const ImDrawList& list, ImFont* font, ImVec2 at, std::string_view text);
// The last one noted in this frame; empty if none was.
[[nodiscard]] std::string text_under_mouse();
void forget_text_under_mouse();

}  // namespace decoderscope::views

struct ImFont;
struct ImFontAtlas;

namespace decoderscope::views {

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

// Refills the atlas; call outside a frame. Uses Inter and JetBrains Mono if installed, otherwise DejaVu, otherwise
// ImGui's own font. Sizes are em sizes times `scale`. What `demand` asks for and the window's language needs is loaded,
// too, from any of these or from a font with Chinese, Japanese and Korean; it must outlive the atlas.
[[nodiscard]] Fonts load_fonts(ImFontAtlas& atlas, float scale, GlyphDemand& demand);

}  // namespace decoderscope::views
