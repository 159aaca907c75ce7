// Contrasts of the theme's colours (WCAG 2.2: 1.4.3 text 4.5:1, 1.4.11 graphics and controls 3:1).
#include "app/views/widgets/theme.h"

#include "app/core/figure/colormap.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "tests/catch.h"
#include "tests/views/drawn_pictures.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

using namespace decoderscope::testing;

namespace {

struct Named {
    const char* name;
    ImU32 Theme::*color;
};
// What text is written on, and what it is written with.
constexpr std::array kGrounds = {Named{"background", &Theme::background}, Named{"panel", &Theme::panel},
                                 Named{"raised", &Theme::raised}, Named{"accent_soft", &Theme::accent_soft}};
constexpr std::array kInks = {Named{"text", &Theme::text}, Named{"muted", &Theme::muted},
                              Named{"accent", &Theme::accent}, Named{"warning", &Theme::warning},
                              Named{"error", &Theme::error}};

}  // namespace

TEST_CASE("contrast is WCAG's, by its own examples") {
    CHECK(contrast({0, 0, 0, 255}, {255, 255, 255, 255}) == Approx(21.0));
    CHECK(contrast({0x77, 0x77, 0x77, 255}, {255, 255, 255, 255}) == Approx(4.48).margin(0.005));
    CHECK(contrast({0x76, 0x76, 0x76, 255}, {255, 255, 255, 255}) == Approx(4.54).margin(0.005));
    CHECK(contrast({1, 2, 3, 255}, {1, 2, 3, 255}) == Approx(1.0));
}

TEST_CASE("every ink of the theme can be read on every ground, dark and light") {
    for (const bool dark : {true, false}) {
        const Theme theme = make_theme(dark);
        for (const Named& ground : kGrounds)
            for (const Named& ink : kInks) {
                INFO(ink.name << " on " << ground.name << (dark ? ", dark" : ", light"));
                CHECK(contrast(to_rgba(theme.*ink.color), to_rgba(theme.*ground.color)) >= 4.5);
            }
        // A hovered button.
        CHECK(contrast(to_rgba(theme.text), to_rgba(theme.line)) >= 4.5);
    }
}

TEST_CASE("the colours of meaning can be told from every ground, and keep their hue where they can") {
    for (const bool dark : {true, false}) {
        Driver d;
        d.state.settings.dark = dark;
        d.settle();
        const Theme theme = make_theme(dark);
        for (int i = 0; i <= static_cast<int>(Meaning::output); ++i) {
            const auto meaning = static_cast<Meaning>(i);
            for (const Named& ground : kGrounds) {
                INFO(meaning_name(meaning) << " on " << ground.name << (dark ? ", dark" : ", light"));
                CHECK(contrast(to_rgba(color_of(meaning)), to_rgba(theme.*ground.color)) >= 3.0);
                CHECK(contrast(to_rgba(ink_of(meaning, theme)), to_rgba(theme.*ground.color)) >= 4.5);
            }
        }
        // On dark most of them are what exports draw, too.
        if (dark) CHECK(to_rgba(color_of(Meaning::mlp)) == meaning_color(Meaning::mlp));
    }
}

TEST_CASE("the numbers in heatmaps can be read on every colour of every map") {
    for (const bool dark : {true, false})
        for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis, ColorMap::blue_orange})
            for (int i = 0; i <= 100; ++i) {
                const bool signs = map == ColorMap::blue_orange;
                const float value = signs ? static_cast<float>(i - 50) / 50.0F : static_cast<float>(i) / 100.0F;
                const Rgba ground = color_of(value, signs ? Range{-1.0F, 1.0F} : Range{0.0F, 1.0F},
                                             signs ? Scale::diverging : Scale::sequential, map, dark);
                CHECK(contrast(text_color_on(ground), ground) >= 4.5);
            }
}

TEST_CASE("a control that is on is marked by more than its colour") {
    Driver d;
    const auto marks = [&] {
        int count = 0;
        const ImU32 accent = make_theme(true).accent;
        const ImDrawData& frame = *ImGui::GetDrawData();
        for (int l = 0; l < frame.CmdListsCount; ++l)
            for (const ImDrawVert& vertex : frame.CmdLists[l]->VtxBuffer) count += vertex.col == accent ? 1 : 0;
        return count;
    };
    d.press(Key::e, with_ctrl);
    const int before = marks();
    d.state.part<dialogs::ExportDialogState>().options.style.dark = true;
    d.settle();
    CHECK(marks() > before);
}

namespace {

// How many corners and pixels of what is drawn have the colour of an end of a map.
std::size_t drawn_in(const Driver& d, ColorMap map) {
    std::array<ImU32, 2> ends{};
    for (const int end : {0, 1})
        ends[static_cast<std::size_t>(end)] =
            to_imgui(color_of(static_cast<float>(end), {0.0F, 1.0F}, Scale::sequential, map, d.state.is_dark()));
    const auto count_in = [&](const auto& colors, auto color_of_one) {
        return static_cast<std::size_t>(std::ranges::count_if(
            colors, [&](const auto& one) { return std::ranges::find(ends, color_of_one(one)) != ends.end(); }));
    };
    std::size_t count = 0;
    const ImDrawData& frame = *ImGui::GetDrawData();
    for (int l = 0; l < frame.CmdListsCount; ++l)
        count += count_in(std::span(frame.CmdLists[l]->VtxBuffer.begin(), frame.CmdLists[l]->VtxBuffer.end()),
                          [](const ImDrawVert& corner) { return corner.col; });
    for (const testing::DrawnPicture& drawn : testing::drawn_textures(frame, *ImGui::GetIO().Fonts))
        for (const auto& [key, picture] : d.textures.pictures())
            if (compat::texture_id(key + 1) == drawn.texture)
                count += count_in(picture.rgba, [](std::uint32_t pixel) { return pixel; });
    return count;
}

}  // namespace

TEST_CASE("every picture of weights follows the chosen colour map, in every tab") {
    for (const bool dark : {true, false}) {
        Driver d("reverse");
        d.state.settings.dark = dark;
        std::size_t tabs_with_weights = 0;
        const auto look = [&] {
            for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis}) {
                d.state.settings.sequential = map;
                for (int i = 0; i < 8; ++i) d.settle();  // large pictures are painted one a frame
                CHECK(drawn_in(d, map == ColorMap::viridis ? ColorMap::cividis : ColorMap::viridis) == 0);
            }
            if (drawn_in(d, ColorMap::cividis) > 0) ++tabs_with_weights;
        };
        for (const Tab& tab : tabs()) {
            INFO(tab.id << (dark ? ", dark" : ", light"));
            d.state.tab = tab.id;
            look();
        }
        CHECK(tabs_with_weights >= 3);
        d.state.tab = "heads";
        d.state.part<decoderscope::views::heads::HeadsTabState>().opened = true;
        look();
        d.press(Key::c, with_ctrl_shift);
        REQUIRE(d.last<request::CopyPicture>());
        CHECK(d.last<request::CopyPicture>()->options.style.sequential == ColorMap::cividis);
    }
}
