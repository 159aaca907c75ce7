#pragma once

// What differs between the versions of Dear ImGui that the program is built with: 1.86 (Debian 12, and the
// browser), 1.90 (Debian 13), and upstream's from 1.92.8 on. Views call these functions; only they know the version. A
// condition on 19000 separates the two Debians, one on 19280 upstream; no distribution has those between, and they are
// refused.

#include "app/views/widgets/fonts.h"
#include "app/views/widgets/keys_and_mouse.h"

#include <imgui.h>

#include <cfloat>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#if (IMGUI_VERSION_NUM >= 18700 && IMGUI_VERSION_NUM < 19000) || \
    (IMGUI_VERSION_NUM >= 19100 && IMGUI_VERSION_NUM < 19280)
#error "expected Dear ImGui 1.86, 1.90, or 1.92.8 or newer (third_party/README.md)"  // not a message: the compiler's
#endif

namespace decoderscope::views::compat {

// ---- Textures. ImTextureID was a pointer until 1.91.4 and is an integer since; these casts fit both.

[[nodiscard]] inline ImTextureID texture_id(std::uint64_t handle) { return (ImTextureID)(std::uintptr_t)handle; }

// ---- Fonts. Each had one size until 1.92; since then the size is chosen where it is pushed, glyphs are made when they
// are first drawn, and the atlas has other names for its parts.

#if IMGUI_VERSION_NUM >= 19280

// The size that a font was loaded with, in pixels.
[[nodiscard]] inline float font_size(const ImFont* font) { return font->LegacySize; }

// Writes with a font at the size that it was loaded with, until ImGui::PopFont.
inline void push_font(ImFont* font) { ImGui::PushFont(font, font->LegacySize); }

// The font used when none is pushed.
inline void set_default_font(ImFont* font) {
    ImGui::GetIO().FontDefault = font;
    ImGui::GetStyle().FontSizeBase = font->LegacySize;
}

// What the atlas keeps of the font that was added last.
[[nodiscard]] inline ImFontConfig& last_added(ImFontAtlas& atlas) { return atlas.Sources.back(); }

// Whether a font has a picture of a character that ImGui knows.
[[nodiscard]] inline bool has_known_glyph(const ImFont* font, ImWchar code) {
    return const_cast<ImFont*>(font)->IsGlyphInFont(code);
}

// From the top of a line to its letters' foot, at the size that the font was loaded with.
[[nodiscard]] inline float ascent(ImFont& font) { return font.GetFontBaked(font.LegacySize)->Ascent; }

// Makes the glyphs known before the first frame.
inline void build(ImFontAtlas&) {}

#else

[[nodiscard]] inline float font_size(const ImFont* font) { return font->FontSize; }
inline void push_font(ImFont* font) { ImGui::PushFont(font); }
inline void set_default_font(ImFont* font) { ImGui::GetIO().FontDefault = font; }
[[nodiscard]] inline ImFontConfig& last_added(ImFontAtlas& atlas) { return atlas.ConfigData.back(); }
[[nodiscard]] inline bool has_known_glyph(const ImFont* font, ImWchar code) {
    return font->FindGlyphNoFallback(code) != nullptr;
}
[[nodiscard]] inline float ascent(ImFont& font) { return font.Ascent; }
inline void build(ImFontAtlas& atlas) { atlas.Build(); }

#endif

// Adds a font of a file's bytes, which must outlive the atlas. ImGui copies what it doesn't own, once for each size: so
// it is told that it owns them only while it adds them.
[[nodiscard]] inline ImFont* add_font(ImFontAtlas& atlas, std::span<char> bytes, float size, ImFontConfig config) {
    config.FontDataOwnedByAtlas = true;
    ImFont* font = atlas.AddFontFromMemoryTTF(bytes.data(), static_cast<int>(bytes.size()), size, &config);
    last_added(atlas).FontDataOwnedByAtlas = false;
    return font;
}

// The last character that this build of ImGui knows.
inline constexpr char32_t kLastCharacter = IM_UNICODE_CODEPOINT_MAX;

// Whether a font has a picture of a character. Packaged builds know characters up to U+FFFF only.
[[nodiscard]] inline bool has_glyph(const ImFont* font, char32_t code) {
    return code <= kLastCharacter && has_known_glyph(font, static_cast<ImWchar>(code));
}

[[nodiscard]] inline ImVec2 text_size(ImFont* font, std::string_view text) {
    if (lacks_glyphs(text)) return text_size(font, with_code_points(text));
    return font->CalcTextSizeA(font_size(font), FLT_MAX, 0.0F, text.data(), text.data() + text.size());
}

inline void add_text(ImDrawList& list, ImFont* font, ImVec2 at, ImU32 color, std::string_view text) {
    note_glyphs(font, text);
    note_place(list, font, at, text);
    if (lacks_glyphs(text)) return add_text(list, font, at, color, with_code_points(text));
    list.AddText(font, font_size(font), at, color, text.data(), text.data() + text.size());
}

// How a text is turned, about a point: it reads from the lower left to the upper right, or from bottom to top.
struct Turned {
    ImVec2 about;
    enum { leaning, upright } to = upright;
};
// As add_text, at any size, turned or not. It isn't part of the frame's document: what a picture shows is told by its
// sentences.
void add_sized_text(ImDrawList& list, ImFont* font, float size, ImVec2 at, ImU32 color, std::string_view text,
                    const Turned* turned = nullptr);

// ---- Draw lists. Since 1.92.8 flags and thickness stand the other way round, and convert into each other without a
// warning; and the backend chooses how a picture is sampled, where the texture did.

#if IMGUI_VERSION_NUM >= 19280

// Draws a picture with each of its pixels a sharp square.
inline void add_pixels(ImDrawList& list, ImTextureID texture, ImVec2 low, ImVec2 high, ImVec2 uv_low = {0.0F, 0.0F},
                       ImVec2 uv_high = {1.0F, 1.0F}) {
    const ImGuiPlatformIO& io = ImGui::GetPlatformIO();
    if (io.DrawCallback_SetSamplerNearest != nullptr) list.AddCallback(io.DrawCallback_SetSamplerNearest, nullptr);
    list.AddImage(texture, low, high, uv_low, uv_high);
    if (io.DrawCallback_SetSamplerLinear != nullptr) list.AddCallback(io.DrawCallback_SetSamplerLinear, nullptr);
}

inline void add_rect(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 color, float rounding = 0.0F,
                     float thickness = 1.0F) {
    list.AddRect(low, high, color, rounding, thickness);
}

inline void add_polyline(ImDrawList& list, std::span<const ImVec2> points, ImU32 color, float thickness,
                         bool closed = false) {
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, thickness, closed ? ImDrawFlags_Closed : 0);
}

#else

inline void add_pixels(ImDrawList& list, ImTextureID texture, ImVec2 low, ImVec2 high, ImVec2 uv_low = {0.0F, 0.0F},
                       ImVec2 uv_high = {1.0F, 1.0F}) {
    list.AddImage(texture, low, high, uv_low, uv_high);
}

inline void add_rect(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 color, float rounding = 0.0F,
                     float thickness = 1.0F) {
    list.AddRect(low, high, color, rounding, ImDrawFlags_None, thickness);
}

inline void add_polyline(ImDrawList& list, std::span<const ImVec2> points, ImU32 color, float thickness,
                         bool closed = false) {
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, closed ? ImDrawFlags_Closed : 0, thickness);
}

#endif

// ---- Windows. 1.89.7 to 1.90 gave child windows flags of their own, and let a tooltip be refused.

struct Child {
    bool border = false;
    bool padded = false;  // the window's padding even without a border
    ImGuiWindowFlags flags = 0;
};

// Dear ImGui keeps the undo steps of the field that was left last, for when it is come back to. If the field shows
// another text since, they would write beyond its end: they are dropped.
void forget_undo_of_other_text(ImGuiID field, std::string_view text);

// Gives the keyboard to the next item. 1.90.1 does so only within the part of the window that has it (Dear ImGui's
// issue 7226).
inline void take_keyboard() {
#if IMGUI_VERSION_NUM == 19010
    ImGui::SetWindowFocus();
#endif
    ImGui::SetKeyboardFocusHere();
}

#if IMGUI_VERSION_NUM >= 19000

// Like ImGui::BeginChild; ImGui::EndChild must follow whatever it returns.
inline bool begin_child(const char* id, ImVec2 size, Child child = {}) {
    ImGuiChildFlags flags = child.border ? 1 : 0;  // the name of the bit changed in 1.91.1
    if (child.padded) flags |= ImGuiChildFlags_AlwaysUseWindowPadding;
    return ImGui::BeginChild(id, size, flags, child.flags);
}

// Whether to fill the tooltip; only then ImGui::EndTooltip must follow.
inline bool begin_tooltip() { return ImGui::BeginTooltip(); }

#else

inline bool begin_child(const char* id, ImVec2 size, Child child = {}) {
    if (child.padded) child.flags |= ImGuiWindowFlags_AlwaysUseWindowPadding;
    return ImGui::BeginChild(id, size, child.border, child.flags);
}

inline bool begin_tooltip() {
    ImGui::BeginTooltip();
    return true;
}

#endif

// How deep the stacks of windows, groups, ids, colours, fonts … are when it is made. Something that throws while it
// draws leaves them deeper.
class StackDepths {
public:
    StackDepths();
    ~StackDepths();
    // Ends and pops whatever has been begun and pushed since.
    void restore() const;

private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

// How many popups are open, one within another.
[[nodiscard]] int open_popups();
// How many of them are left below the pointer's place: all of them if it is on the one in front, none if it is beside
// each. Those above are in its way.
[[nodiscard]] int popups_under(ImVec2 pointer);
// Closes the popups above the first ones.
void close_popups_above(int first);
// Whether the current window is, or lies in, the one that the user can reach: the popup that was opened last, if any.
[[nodiscard]] bool in_front();
// Whether what is drawn is out of use (ImGui::BeginDisabled).
[[nodiscard]] bool is_disabled();
// The id of the last item; 0 for text.
[[nodiscard]] ImGuiID last_item();
// Opens the list of a combo box by the box's id.
void open_list(ImGuiID combo);
// Ends the typing into a field.
void clear_active();
// Scrolls a field of several lines, by the field's id, with the next frame.
void scroll_field(ImGuiID field, float y);
[[nodiscard]] float scroll_of_field(ImGuiID field);
// Drops what ImGui itself was going to do about Tab in this frame.
void cancel_tabbing();

// ---- Clipboard. The functions moved and changed their argument in 1.91.1.

class Clipboard {
public:
    virtual ~Clipboard() = default;
    virtual const char* text() = 0;  // null if there is none
    virtual void set_text(const char* text) = 0;
};

// Makes the current context use a clipboard, which must outlive it.
inline void set_clipboard(Clipboard& clipboard) {
#if IMGUI_VERSION_NUM >= 19280
    ImGuiPlatformIO& io = ImGui::GetPlatformIO();
    io.Platform_ClipboardUserData = &clipboard;
    io.Platform_GetClipboardTextFn = [](ImGuiContext*) {
        return static_cast<Clipboard*>(ImGui::GetPlatformIO().Platform_ClipboardUserData)->text();
    };
    io.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
        static_cast<Clipboard*>(ImGui::GetPlatformIO().Platform_ClipboardUserData)->set_text(text);
    };
#else
    ImGuiIO& io = ImGui::GetIO();
    io.ClipboardUserData = &clipboard;
    io.GetClipboardTextFn = [](void* user) { return static_cast<Clipboard*>(user)->text(); };
    io.SetClipboardTextFn = [](void* user, const char* text) { static_cast<Clipboard*>(user)->set_text(text); };
#endif
}

// ---- Input. In 1.86 the state is written into the IO, ImGui knows the keys that it uses itself, and KeyMap gives them
// our numbers. Since 1.87 there are events and a name for every key; ImGui's event queue is off, as ours comes before
// it.

struct NamedKey {
    Key key;
    ImGuiKey imgui;
};

inline constexpr NamedKey kNamedKeys[] = {
    {Key::tab, ImGuiKey_Tab},
    {Key::left, ImGuiKey_LeftArrow},
    {Key::right, ImGuiKey_RightArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::page_up, ImGuiKey_PageUp},
    {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {Key::insert, ImGuiKey_Insert},
    {Key::del, ImGuiKey_Delete},
    {Key::backspace, ImGuiKey_Backspace},
    {Key::space, ImGuiKey_Space},
    {Key::enter, ImGuiKey_Enter},
    {Key::escape, ImGuiKey_Escape},
#if IMGUI_VERSION_NUM >= 19000
    {Key::minus, ImGuiKey_Minus},
    {Key::equal, ImGuiKey_Equal},
    {Key::plus, ImGuiKey_KeypadAdd},
    {Key::comma, ImGuiKey_Comma},
    {Key::period, ImGuiKey_Period},
    {Key::slash, ImGuiKey_Slash},
    {Key::semicolon, ImGuiKey_Semicolon},
    {Key::apostrophe, ImGuiKey_Apostrophe},
    {Key::left_bracket, ImGuiKey_LeftBracket},
    {Key::right_bracket, ImGuiKey_RightBracket},
    {Key::backslash, ImGuiKey_Backslash},
    {Key::grave, ImGuiKey_GraveAccent},
#else
    {Key::a, ImGuiKey_A},
    {Key::c, ImGuiKey_C},
    {Key::v, ImGuiKey_V},
    {Key::x, ImGuiKey_X},
    {Key::y, ImGuiKey_Y},
    {Key::z, ImGuiKey_Z},
#endif
};

#if IMGUI_VERSION_NUM >= 19000

[[nodiscard]] inline ImGuiKey to_imgui(Key key) {
    const auto after = [key](ImGuiKey imgui, Key first) {
        return static_cast<ImGuiKey>(static_cast<int>(imgui) + static_cast<int>(key) - static_cast<int>(first));
    };
    if (key >= Key::digit_0 && key <= Key::digit_9) return after(ImGuiKey_0, Key::digit_0);
    if (key >= Key::a && key <= Key::z) return after(ImGuiKey_A, Key::a);
    if (key >= Key::f1 && key <= Key::f12) return after(ImGuiKey_F1, Key::f1);
    for (const NamedKey& named : kNamedKeys)
        if (named.key == key) return named.imgui;
    return ImGuiKey_None;
}

inline void prepare_input(ImGuiIO& io) { io.ConfigInputTrickleEventQueue = false; }
inline void set_key(ImGuiIO& io, Key key, bool down) { io.AddKeyEvent(to_imgui(key), down); }
inline void set_mods(ImGuiIO& io, Mods mods) {
    io.AddKeyEvent(ImGuiMod_Ctrl, mods.ctrl);
    io.AddKeyEvent(ImGuiMod_Shift, mods.shift);
    io.AddKeyEvent(ImGuiMod_Alt, mods.alt);
}
inline void set_mouse(ImGuiIO& io, float x, float y) { io.AddMousePosEvent(x, y); }
inline void set_button(ImGuiIO& io, Button button, bool down) {
    io.AddMouseButtonEvent(static_cast<int>(button), down);
}
inline void turn_wheel(ImGuiIO& io, float x, float y) { io.AddMouseWheelEvent(x, y); }
[[nodiscard]] inline bool key_pressed(Key key, bool repeat) { return ImGui::IsKeyPressed(to_imgui(key), repeat); }

#else

inline void prepare_input(ImGuiIO& io) {
    for (const NamedKey& named : kNamedKeys) io.KeyMap[named.imgui] = static_cast<int>(named.key);
}
inline void set_key(ImGuiIO& io, Key key, bool down) { io.KeysDown[static_cast<int>(key)] = down; }
inline void set_mods(ImGuiIO& io, Mods mods) {
    io.KeyCtrl = mods.ctrl;
    io.KeyShift = mods.shift;
    io.KeyAlt = mods.alt;
}
inline void set_mouse(ImGuiIO& io, float x, float y) { io.MousePos = ImVec2(x, y); }
inline void set_button(ImGuiIO& io, Button button, bool down) { io.MouseDown[static_cast<int>(button)] = down; }
inline void turn_wheel(ImGuiIO& io, float x, float y) {
    io.MouseWheelH += x;
    io.MouseWheel += y;
}
[[nodiscard]] inline bool key_pressed(Key key, bool repeat) {
    return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}

#endif

}  // namespace decoderscope::views::compat
