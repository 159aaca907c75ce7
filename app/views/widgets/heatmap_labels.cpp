#include "app/views/widgets/heatmap_labels.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace decoderscope {

namespace {

// The smallest of 1, 2, 5, 10, 20, … cells that leaves room for a label.
Index label_step(float cells_per_label) {
    for (Index decade = 1;; decade *= 10)
        for (const Index step : {decade, 2 * decade, 5 * decade})
            if (static_cast<float>(step) >= cells_per_label) return step;
}

bool is_index(const std::string& label) {
    return std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void draw_column_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const CellRect& seen, Area area,
                        std::optional<Spot> hovered) {
    const std::span<const std::string> labels =
        std::span(d.heatmap.column_labels)
            .subspan(static_cast<std::size_t>(seen.column), static_cast<std::size_t>(seen.columns));
    ImFont* font = ui.fonts.mono_small;
    const float most = std::max(ui.px(64), l.cell.x), gap = ui.px(6);
    float widest = 0.0F;
    for (const std::string& label : labels) widest = std::max(widest, std::min(most, compat::text_size(font, label).x));
    const bool words = !std::all_of(labels.begin(), labels.end(), is_index);
    const Index every = words ? 1 : label_step((widest + gap) / l.cell.x);
    const auto place = [&](Index column, const std::string& text) {
        const float width = compat::text_size(font, text).x;
        return std::pair{l.origin.x + (static_cast<float>(column) + 0.5F) * l.cell.x - width * 0.5F, width};
    };
    const auto text_of = [&](Index column) {
        return fitted(font, labels[static_cast<std::size_t>(column - seen.column)], most);
    };
    float taken_low = 0.0F, taken_high = 0.0F;  // the hovered column's label
    if (hovered) {
        const std::string text = text_of(hovered->second);
        const auto [x, width] = place(hovered->second, text);
        draw_text(ui, font, {x, l.column_labels_y}, ui.theme.text, text);
        taken_low = x - gap;
        taken_high = x + width + gap;
    }
    float free_from = area.low.x;
    for (Index c = seen.column; c < seen.column + seen.columns; ++c) {
        if (c % every != 0 || (hovered && hovered->second == c)) continue;
        const std::string text = text_of(c);
        const auto [x, width] = place(c, text);
        const bool beside_hovered = x + width <= taken_low || x >= taken_high;
        if (x < free_from || x + width > area.high.x + ui.px(4) || !beside_hovered) continue;
        draw_text(ui, font, {x, l.column_labels_y}, ui.theme.muted, text);
        free_from = x + width + gap;
    }
}

void draw_row_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const CellRect& seen, Area area,
                     std::optional<Spot> hovered) {
    const Heatmap& h = d.heatmap;
    ImFont* font = ui.fonts.mono_small;
    const float line = compat::font_size(font);
    const Index every_row = label_step(line / l.cell.y);
    const float room = l.cells.low.x - area.low.x - ui.px(6);
    for (Index r = seen.row; r < seen.row + seen.rows; ++r) {
        if (r % every_row != 0) continue;
        const std::string text = fitted(font, h.row_labels[static_cast<std::size_t>(r)], room);
        const float y = l.origin.y + (static_cast<float>(r) + 0.5F) * l.cell.y - line * 0.5F;
        if (y < l.cells.low.y - line * 0.5F || y + line > l.cells.high.y + line * 0.5F) continue;
        const ImU32 color = hovered && hovered->first == r ? ui.theme.text : ui.theme.muted;
        draw_text(ui, font, {l.cells.low.x - ui.px(5) - compat::text_size(font, text).x, y}, color, text);
    }
}

void draw_title(const Ui& ui, const HeatmapDrawing& d, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Heatmap& h = d.heatmap;
    const float line = compat::font_size(ui.fonts.mono_small);
    const float r = ui.px(4);
    list.AddRectFilled({area.low.x, area.low.y + line * 0.5F - r + 1},
                       {area.low.x + r * 2, area.low.y + line * 0.5F + r + 1}, d.color, ui.px(2));
    std::string axes = h.row_axis.empty() ? h.column_axis + " →" : h.row_axis + " ↓  " + h.column_axis + " →";
    const float axes_width = compat::text_size(ui.fonts.caption, axes).x;
    const float room = area.width() - ui.px(14);
    const float title_width =
        draw_text(ui, ui.fonts.mono_small, {area.low.x + ui.px(14), area.low.y}, ui.theme.text, h.title, room);
    if (title_width + axes_width + ui.px(12) < room)
        draw_text(ui, ui.fonts.caption, {area.high.x - axes_width, area.low.y}, ui.theme.muted, axes);
}

}  // namespace decoderscope
