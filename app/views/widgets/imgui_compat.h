#pragma once

// What differs between the versions of Dear ImGui that the program is built with: 1.86 (Debian 12), 1.90 (Debian 13)
// and 1.92 (upstream). Views call these functions; only they know the version.

#include "app/views/widgets/fonts.h"
#include "app/views/widgets/keys_and_mouse.h"

#include <imgui.h>

#include <cfloat>
#include <cstdint>
#include <span>
#include <string_view>

namespace decoderscope::compat {

// ---- Textures. ImTextureID was a pointer until 1.91.4 and is an integer since.

[[nodiscard]] inline ImTextureID texture_id(std::uint64_t handle) {
#if IMGUI_VERSION_NUM >= 19140
    return static_cast<ImTextureID>(handle);
#else
    return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(handle));
#endif
}

[[nodiscard]] inline std::uint64_t texture_handle(ImTextureID id) {
#if IMGUI_VERSION_NUM >= 19140
    return static_cast<std::uint64_t>(id);
#else
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(id));
#endif
}

// Draws a picture with each of its pixels a sharp square. Since 1.92.8 ImGui would otherwise smooth it, whatever the
// texture says.
inline void add_pixels(ImDrawList& list, ImTextureID texture, ImVec2 low, ImVec2 high, ImVec2 uv_low = {0.0F, 0.0F},
                       ImVec2 uv_high = {1.0F, 1.0F}) {
#if IMGUI_VERSION_NUM >= 19280
    const ImGuiPlatformIO& io = ImGui::GetPlatformIO();
    if (io.DrawCallback_SetSamplerNearest != nullptr) list.AddCallback(io.DrawCallback_SetSamplerNearest, nullptr);
    list.AddImage(texture, low, high, uv_low, uv_high);
    if (io.DrawCallback_SetSamplerLinear != nullptr) list.AddCallback(io.DrawCallback_SetSamplerLinear, nullptr);
#else
    list.AddImage(texture, low, high, uv_low, uv_high);
#endif
}

// ---- Fonts. Each had one size until 1.92; since then the size is chosen where it is pushed.

// The size that a font was loaded with, in pixels.
[[nodiscard]] inline float font_size(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
    return font->LegacySize;
#else
    return font->FontSize;
#endif
}

// The texture that an atlas' glyphs are in.
[[nodiscard]] inline ImTextureID font_texture(const ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM >= 19200
    return atlas.TexRef.GetTexID();
#else
    return atlas.TexID;
#endif
}

// Writes with a font at the size that it was loaded with, until ImGui::PopFont.
inline void push_font(ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
    ImGui::PushFont(font, font->LegacySize);
#else
    ImGui::PushFont(font);
#endif
}

// Adds a font of a file's bytes, which must outlive the atlas. ImGui copies what it doesn't own, once for each size: so
// it is told that it owns them only while it adds them.
[[nodiscard]] inline ImFont* add_font(ImFontAtlas& atlas, std::span<char> bytes, float size, ImFontConfig config) {
    config.FontDataOwnedByAtlas = true;
    ImFont* font = atlas.AddFontFromMemoryTTF(bytes.data(), static_cast<int>(bytes.size()), size, &config);
#if IMGUI_VERSION_NUM >= 19200
    atlas.Sources.back().FontDataOwnedByAtlas = false;
#else
    atlas.ConfigData.back().FontDataOwnedByAtlas = false;
#endif
    return font;
}

// The font used when none is pushed.
inline void set_default_font(ImFont* font) {
    ImGui::GetIO().FontDefault = font;
#if IMGUI_VERSION_NUM >= 19200
    ImGui::GetStyle().FontSizeBase = font->LegacySize;
#endif
}

// The last character that this build of ImGui knows.
inline constexpr char32_t kLastCharacter = IM_UNICODE_CODEPOINT_MAX;

// Whether a font has a picture of a character. Packaged builds know characters up to U+FFFF only.
[[nodiscard]] inline bool has_glyph(const ImFont* font, char32_t code) {
    if (code > kLastCharacter) return false;
#if IMGUI_VERSION_NUM >= 19200
    return const_cast<ImFont*>(font)->IsGlyphInFont(static_cast<ImWchar>(code));
#else
    return font->FindGlyphNoFallback(static_cast<ImWchar>(code)) != nullptr;
#endif
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

// Visits every baked glyph of a font at the size that it was loaded with, with the corner of its picture in the
// texture: visit(code, u, v).
template <class Visit>
void each_glyph(ImFont& font, Visit visit) {
#if IMGUI_VERSION_NUM >= 19200
    for (const ImFontGlyph& glyph : font.GetFontBaked(font.LegacySize)->Glyphs)
#else
    for (const ImFontGlyph& glyph : font.Glyphs)
#endif
        if (glyph.Visible) visit(static_cast<ImWchar>(glyph.Codepoint), glyph.U0, glyph.V0);
}

// Makes the glyphs known before the first frame. Since 1.92 they are made when they are first drawn.
inline void build(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM < 19200
    atlas.Build();
#else
    static_cast<void>(atlas);
#endif
}

// Bakes the atlas without a GPU. A context with no backend needs this before its first frame.
inline void bake_on_cpu(ImFontAtlas& atlas) {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
#if IMGUI_VERSION_NUM < 19200
    atlas.SetTexID(texture_id(1));
#endif
}

// ---- Draw lists. 1.92.8 swapped flags and thickness.

inline void add_rect(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 color, float rounding = 0.0F,
                     float thickness = 1.0F) {
#if IMGUI_VERSION_NUM >= 19280
    list.AddRect(low, high, color, rounding, thickness);
#else
    list.AddRect(low, high, color, rounding, ImDrawFlags_None, thickness);
#endif
}

inline void add_polyline(ImDrawList& list, std::span<const ImVec2> points, ImU32 color, float thickness,
                         bool closed = false) {
    const ImDrawFlags flags = closed ? ImDrawFlags_Closed : ImDrawFlags_None;
#if IMGUI_VERSION_NUM >= 19280
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, thickness, flags);
#else
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, flags, thickness);
#endif
}

// Draws and clears the list's current path.
inline void stroke_path(ImDrawList& list, ImU32 color, float thickness, bool closed = false) {
    const ImDrawFlags flags = closed ? ImDrawFlags_Closed : ImDrawFlags_None;
#if IMGUI_VERSION_NUM >= 19280
    list.PathStroke(color, thickness, flags);
#else
    list.PathStroke(color, flags, thickness);
#endif
}

// ---- Windows and items.

struct Child {
    bool border = false;
    bool padded = false;  // the window's padding even without a border
    ImGuiWindowFlags flags = 0;
};

// Like ImGui::BeginChild; ImGui::EndChild must follow whatever it returns.
inline bool begin_child(const char* id, ImVec2 size, Child child = {}) {
#if IMGUI_VERSION_NUM >= 19000
    ImGuiChildFlags flags = child.border ? 1 : 0;  // the name of the bit changed in 1.91.1
    if (child.padded) flags |= ImGuiChildFlags_AlwaysUseWindowPadding;
    return ImGui::BeginChild(id, size, flags, child.flags);
#else
    if (child.padded) child.flags |= ImGuiWindowFlags_AlwaysUseWindowPadding;
    return ImGui::BeginChild(id, size, child.border, child.flags);
#endif
}

// Whether to fill the tooltip; only then ImGui::EndTooltip must follow.
inline bool begin_tooltip() {
#if IMGUI_VERSION_NUM >= 18974
    return ImGui::BeginTooltip();
#else
    ImGui::BeginTooltip();
    return true;
#endif
}

// Draws an item that later items may overlap and take the mouse from: overlappable([&] { return ImGui::Button(…); }).
template <class Item>
auto overlappable(Item&& item) {
#if IMGUI_VERSION_NUM >= 18970
    ImGui::SetNextItemAllowOverlap();
    return item();
#else
    const auto result = item();
    ImGui::SetItemAllowOverlap();
    return result;
#endif
}

#if IMGUI_VERSION_NUM >= 18970
inline constexpr ImGuiSelectableFlags selectable_overlappable = ImGuiSelectableFlags_AllowOverlap;
#else
inline constexpr ImGuiSelectableFlags selectable_overlappable = ImGuiSelectableFlags_AllowItemOverlap;
#endif

// Closes the popup, such as a list or a menu, that was opened last.
void close_last_popup();
// How many popups are open, one within another.
[[nodiscard]] int open_popups();
// Whether the current window is, or lies in, the one that the user can reach: the popup that was opened last, if any.
[[nodiscard]] bool in_front();
// The id of the last item; 0 for text.
[[nodiscard]] ImGuiID last_item();
// Opens the list of a combo box by the box's id.
void open_list(ImGuiID combo);
// Ends the typing into a field.
void clear_active();
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
#if IMGUI_VERSION_NUM >= 19110
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

// ---- Input. Until 1.86 the state is written into the IO, and KeyMap gives keys our own numbers. Since 1.87 there are
// events and ImGui's own keys; its event queue is off, as ours comes before it.

#if IMGUI_VERSION_NUM >= 18700

[[nodiscard]] inline ImGuiKey to_imgui(Key key) {
    const auto after = [key](ImGuiKey imgui, Key first) {
        return static_cast<ImGuiKey>(static_cast<int>(imgui) + static_cast<int>(key) - static_cast<int>(first));
    };
    if (key >= Key::digit_0 && key <= Key::digit_9) return after(ImGuiKey_0, Key::digit_0);
    if (key >= Key::a && key <= Key::z) return after(ImGuiKey_A, Key::a);
    if (key >= Key::f1 && key <= Key::f12) return after(ImGuiKey_F1, Key::f1);
    switch (key) {
        case Key::left:
            return ImGuiKey_LeftArrow;
        case Key::right:
            return ImGuiKey_RightArrow;
        case Key::up:
            return ImGuiKey_UpArrow;
        case Key::down:
            return ImGuiKey_DownArrow;
        case Key::home:
            return ImGuiKey_Home;
        case Key::end:
            return ImGuiKey_End;
        case Key::page_up:
            return ImGuiKey_PageUp;
        case Key::page_down:
            return ImGuiKey_PageDown;
        case Key::tab:
            return ImGuiKey_Tab;
        case Key::space:
            return ImGuiKey_Space;
        case Key::enter:
            return ImGuiKey_Enter;
        case Key::escape:
            return ImGuiKey_Escape;
        case Key::backspace:
            return ImGuiKey_Backspace;
        case Key::insert:
            return ImGuiKey_Insert;
        case Key::del:
            return ImGuiKey_Delete;
        case Key::minus:
            return ImGuiKey_Minus;
        case Key::equal:
            return ImGuiKey_Equal;
        case Key::plus:
            return ImGuiKey_KeypadAdd;
        case Key::comma:
            return ImGuiKey_Comma;
        case Key::period:
            return ImGuiKey_Period;
        case Key::slash:
            return ImGuiKey_Slash;
        case Key::semicolon:
            return ImGuiKey_Semicolon;
        case Key::apostrophe:
            return ImGuiKey_Apostrophe;
        case Key::left_bracket:
            return ImGuiKey_LeftBracket;
        case Key::right_bracket:
            return ImGuiKey_RightBracket;
        case Key::backslash:
            return ImGuiKey_Backslash;
        case Key::grave:
            return ImGuiKey_GraveAccent;
        default:
            return ImGuiKey_None;
    }
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
    const auto map = [&io](ImGuiKey imgui, Key key) { io.KeyMap[imgui] = static_cast<int>(key); };
    map(ImGuiKey_Tab, Key::tab);
    map(ImGuiKey_LeftArrow, Key::left);
    map(ImGuiKey_RightArrow, Key::right);
    map(ImGuiKey_UpArrow, Key::up);
    map(ImGuiKey_DownArrow, Key::down);
    map(ImGuiKey_PageUp, Key::page_up);
    map(ImGuiKey_PageDown, Key::page_down);
    map(ImGuiKey_Home, Key::home);
    map(ImGuiKey_End, Key::end);
    map(ImGuiKey_Insert, Key::insert);
    map(ImGuiKey_Delete, Key::del);
    map(ImGuiKey_Backspace, Key::backspace);
    map(ImGuiKey_Space, Key::space);
    map(ImGuiKey_Enter, Key::enter);
    map(ImGuiKey_Escape, Key::escape);
    map(ImGuiKey_A, Key::a);
    map(ImGuiKey_C, Key::c);
    map(ImGuiKey_V, Key::v);
    map(ImGuiKey_X, Key::x);
    map(ImGuiKey_Y, Key::y);
    map(ImGuiKey_Z, Key::z);
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

}  // namespace decoderscope::compat
