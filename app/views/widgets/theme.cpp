#include "app/views/widgets/theme.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace decoderscope::views {

namespace {

constexpr ImU32 rgb(unsigned hex) { return IM_COL32((hex >> 16) & 255U, (hex >> 8) & 255U, hex & 255U, 255U); }

// A colour moved towards another one by a part of the way.
core::Rgba toward(core::Rgba from, int goal, int percent) {
    const auto part = [&](std::uint8_t value) {
        return static_cast<std::uint8_t>(value + (goal - value) * percent / 100);
    };
    return {part(from.r), part(from.g), part(from.b), from.a};
}

// The contrasts that WCAG asks of graphics and of text.
constexpr double kGraphics = 3.0, kText = 4.5;
constexpr std::size_t kMeanings = static_cast<std::size_t>(Meaning::output) + 1;
using MeaningColors = std::array<ImU32, kMeanings>;

// The colours of meaning on a theme: from a part of the way towards white or black, in percent, as far as it takes to
// have this contrast with every ground.
MeaningColors visible_colors(bool dark, double ratio, int least) {
    const Theme theme = make_theme(dark);
    const auto visible = [&](core::Rgba color) {
        return std::ranges::all_of(std::array{theme.background, theme.panel, theme.raised, theme.accent_soft},
                                   [&](ImU32 ground) { return core::contrast(color, to_rgba(ground)) >= ratio; });
    };
    MeaningColors colors{};
    for (std::size_t i = 0; i < kMeanings; ++i) {
        core::Rgba color = toward(core::meaning_color(static_cast<Meaning>(i)), dark ? 255 : 0, least);
        for (int percent = least; percent < 100 && !visible(color); percent += 2)
            color = toward(core::meaning_color(static_cast<Meaning>(i)), dark ? 255 : 0, percent);
        colors[i] = to_imgui(color);
    }
    return colors;
}

}  // namespace

Theme make_theme(bool dark, core::ColorMap sequential) {
    if (dark)
        return {true,          sequential,    rgb(0x14171C), rgb(0x1A1E25), rgb(0x252B34), rgb(0x323944),
                rgb(0xE4E8EE), rgb(0x98A2B1), rgb(0x4EA1F3), rgb(0x1B3046), rgb(0xE69F00), rgb(0xF0705A)};
    return {false,         sequential,    rgb(0xF4F5F7), rgb(0xFFFFFF), rgb(0xE9ECF0), rgb(0xD3D8DF),
            rgb(0x1B2027), rgb(0x5B6675), rgb(0x1566C0), rgb(0xDCEAFA), rgb(0x805300), rgb(0xB3321D)};
}

core::ColorMap map_of(const Theme& theme, core::Scale scale) {
    return scale == core::Scale::sequential ? theme.sequential : core::default_map(scale);
}

ImU32 to_imgui(core::Rgba color) { return IM_COL32(color.r, color.g, color.b, color.a); }

std::vector<std::uint32_t> to_imgui(const std::vector<core::Rgba>& colors) {
    std::vector<std::uint32_t> pixels;
    pixels.reserve(colors.size());
    for (const core::Rgba color : colors) pixels.push_back(to_imgui(color));
    return pixels;
}

ImU32 with_alpha(ImU32 color, float alpha) {
    const auto a = static_cast<ImU32>(static_cast<float>((color >> IM_COL32_A_SHIFT) & 255U) * alpha);
    return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

core::Rgba to_rgba(ImU32 color) {
    const auto part = [color](unsigned shift) { return static_cast<std::uint8_t>((color >> shift) & 255U); };
    return {part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT), part(IM_COL32_A_SHIFT)};
}

ImU32 color_of(Meaning meaning) {
    static const MeaningColors dark = visible_colors(true, kGraphics, 0), light = visible_colors(false, kGraphics, 0);
    const ImVec4 ground = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    const bool is_dark = ground.x + ground.y + ground.z < 1.5F;
    return (is_dark ? dark : light)[static_cast<std::size_t>(meaning)];
}

ImU32 ink_of(Meaning meaning, const Theme& theme) {
    static const MeaningColors dark = visible_colors(true, kText, 40), light = visible_colors(false, kText, 40);
    return (theme.dark ? dark : light)[static_cast<std::size_t>(meaning)];
}

void apply_style(const Theme& theme, float scale) {
    ImGuiStyle style;
    style.WindowPadding = {8, 8};
    style.FramePadding = {8, 4};
    style.ItemSpacing = {8, 6};
    style.ItemInnerSpacing = {6, 4};
    style.WindowRounding = 0;
    style.ChildRounding = 0;
    style.FrameRounding = 4;
    style.PopupRounding = 6;
    style.GrabRounding = 4;
    style.ScrollbarRounding = 4;
    style.ScrollbarSize = 10;
    style.WindowBorderSize = 0;
    style.ChildBorderSize = 0;
    style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    style.ScaleAllSizes(scale);

    const auto paint = [&](ImU32 color, std::initializer_list<ImGuiCol> parts) {
        for (const ImGuiCol part : parts) style.Colors[part] = ImGui::ColorConvertU32ToFloat4(color);
    };
    paint(theme.text, {ImGuiCol_Text});
    paint(theme.background, {ImGuiCol_WindowBg});
    paint(theme.panel, {ImGuiCol_PopupBg});
    paint(theme.muted, {ImGuiCol_TextDisabled, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive});
    paint(theme.raised, {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_HeaderHovered});
    paint(theme.line, {ImGuiCol_Border, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ButtonHovered,
                       ImGuiCol_Separator, ImGuiCol_ScrollbarGrab});
    paint(theme.accent_soft, {ImGuiCol_ButtonActive, ImGuiCol_Header, ImGuiCol_HeaderActive, ImGuiCol_TextSelectedBg});
    paint(theme.accent, {ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_NavHighlight});
    paint(IM_COL32(0, 0, 0, 0), {ImGuiCol_ChildBg, ImGuiCol_ScrollbarBg});
    style.Colors[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, 0.35F};
    ImGui::GetStyle() = style;
}

}  // namespace decoderscope::views
