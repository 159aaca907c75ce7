#include "app/views/widgets/heatmap_legend.h"

#include "app/core/export/figure.h"
#include "app/core/picture/colormap.h"
#include "app/core/picture/heatmap_image.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/explanation.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace decoderscope {

namespace {

float bar_length(const Ui& ui, float width) { return std::clamp(width * 0.25F, ui.px(40), ui.px(96)); }

float bar_width(const Ui& ui, const Heatmap& h, float width) {
    const auto text = [&](float value) {
        return compat::text_size(ui.fonts.mono_small, short_number(static_cast<double>(value))).x;
    };
    return text(h.range.low) + ui.px(5) + bar_length(ui, width) + ui.px(5) + text(h.range.high);
}

// One kind of hatch: a combination of masks that hide a cell. x counts from where the cells start.
struct LegendEntry {
    std::uint8_t causes;
    std::string text;
    float x;
    int row;
};

std::vector<LegendEntry> legend_entries(const Ui& ui, const Heatmap& h, float width) {
    std::array<bool, 16> occurs{};
    for (const std::uint8_t causes : h.hidden) occurs[causes & 15U] = true;
    std::vector<LegendEntry> entries;
    float x = bar_width(ui, h, width) + ui.px(14);
    int row = 0;
    for (std::uint8_t causes = 1; causes < 16; ++causes) {
        if (!occurs[causes]) continue;
        const std::string text = hidden_text(causes);
        const float needed = ui.px(17) + compat::text_size(ui.fonts.caption, text).x;
        if (x > 0.0F && x + needed > width) {
            x = 0.0F;
            ++row;
        }
        entries.push_back({causes, text, x, row});
        x += needed + ui.px(12);
    }
    return entries;
}

void draw_bar(const Ui& ui, const Heatmap& h, ImVec2 at, float width) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto number = [&](float x, float value) {
        return draw_text(ui, ui.fonts.mono_small, {x, at.y}, ui.theme.muted, short_number(static_cast<double>(value)));
    };
    const float length = bar_length(ui, width), middle = at.y + compat::font_size(ui.fonts.mono_small) * 0.5F;
    const float start = at.x + number(at.x, h.range.low) + ui.px(5);
    constexpr int kPieces = 48;
    for (int i = 0; i < kPieces; ++i) {
        const auto part = (static_cast<float>(i) + 0.5F) / kPieces;
        const Rgba color = color_of(h.range.low + part * (h.range.high - h.range.low), h.range, h.scale,
                                    map_of(ui.theme, h.scale), ui.theme.dark);
        list.AddRectFilled({start + length * static_cast<float>(i) / kPieces, middle - ui.px(4)},
                           {start + length * static_cast<float>(i + 1) / kPieces, middle + ui.px(4)}, to_imgui(color));
    }
    number(start + length + ui.px(5), h.range.high);
}

}  // namespace

int legend_rows(const Ui& ui, const Heatmap& heatmap, Legend legend, float width) {
    if (legend != Legend::full) return legend == Legend::bar ? 1 : 0;
    const std::vector<LegendEntry> entries = legend_entries(ui, heatmap, width);
    // If masks apply, there is room for one more kind than usual: the first painted cell must not move the others.
    const int least = heatmap.hidden.empty() ? 1 : 3;
    return entries.empty() ? least : std::max(least, entries.back().row + 1);
}

void draw_hatch(const Ui& ui, std::uint8_t causes, Area box, float spacing) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const figure::HatchedRectangle hatched = {.box = {box.low.x, box.low.y, box.width(), box.height()},
                                              .hatch = hatch_of(causes),
                                              .color = hatch_color(causes, ui.theme.dark),
                                              .spacing = static_cast<double>(spacing),
                                              .width = static_cast<double>(ui.px(1))};
    const auto width = static_cast<float>(figure::stroke_width(hatched));
    const ImU32 color = to_imgui(hatched.color);
    for (const figure::Segment& s : figure::hatch_segments(hatched)) {
        const ImVec2 from(static_cast<float>(s.x1), static_cast<float>(s.y1)),
            to(static_cast<float>(s.x2), static_cast<float>(s.y2));
        if (hatched.hatch == Hatch::dots)
            list.AddCircleFilled(from, width * 0.6F, color, 8);
        else
            list.AddLine(from, to, color, width);
    }
}

void draw_legend(const Ui& ui, const Heatmap& heatmap, Legend legend, ImVec2 start, float width) {
    const float line = compat::font_size(ui.fonts.mono_small), side = ui.px(12);
    if (legend == Legend::none) return;
    // Under narrow cells it starts under the row labels, rather than run into what is next to the heatmap.
    const float too_wide = std::max(0.0F, bar_width(ui, heatmap, width) - width);
    draw_bar(ui, heatmap, {start.x - too_wide, start.y}, width);
    if (legend == Legend::bar) return;
    for (const LegendEntry& entry : legend_entries(ui, heatmap, width)) {
        const float y = start.y + static_cast<float>(entry.row) * (line + ui.px(2));
        const ImVec2 low = {start.x + entry.x, y + (line - side) * 0.5F};
        const Area swatch = {low, {low.x + side, low.y + side}};
        ImGui::GetWindowDrawList()->AddRectFilled(swatch.low, swatch.high,
                                                  to_imgui(hidden_color(entry.causes, ui.theme.dark)));
        draw_hatch(ui, entry.causes, swatch, ui.px(5));
        draw_text(ui, ui.fonts.caption, {swatch.high.x + ui.px(5), y}, ui.theme.muted, entry.text);
    }
}

}  // namespace decoderscope
