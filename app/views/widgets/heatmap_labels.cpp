#include "app/views/widgets/heatmap_labels.h"

#include "app/core/text/axis_words.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

// A label of a row or column that is pointed out, on a ground of its own.
void draw_pointed_out(const Ui& ui, ImVec2 at, float width, const std::string& text, bool selected) {
    const float line = compat::font_size(ui.fonts.mono_small), edge = ui.px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x - edge, at.y}, {at.x + width + edge, at.y + line},
                                              selected ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    draw_text(ui, ui.fonts.mono_small, at, ui.theme.text, text);
}

// ---- columns

struct ColumnLabels {
    const Ui& ui;
    const HeatmapDrawing& d;
    const HeatmapLayout& l;
    const CellRect& seen;
    Area area;
    bool words;   // else indices
    Index every;  // cells that share a label
    float gap;

    [[nodiscard]] const std::string& label(Index column) const {
        return d.heatmap.column_labels[static_cast<std::size_t>(column)];
    }
    [[nodiscard]] float width(const std::string& text) const { return compat::text_size(ui.fonts.mono_small, text).x; }
    [[nodiscard]] float middle(Index column) const {
        return l.origin.x + (static_cast<float>(column) + 0.5F) * l.cell.x;
    }
    [[nodiscard]] float pitch() const { return l.cell.x * static_cast<float>(every); }
    // What a label takes at most where its neighbours are long, too.
    [[nodiscard]] float share(Index column) const {
        return column < seen.column || column >= seen.column + seen.columns
                   ? 0.0F
                   : std::min(width(label(column)), pitch() - gap);
    }
    // The room of a label: up to its neighbours' share, and within the area.
    [[nodiscard]] float room(Index column) const {
        const float beside = std::max(share(column - every), share(column + every));
        const float edge = std::min(middle(column) - area.low.x, area.high.x + ui.px(4) - middle(column));
        return std::min({2.0F * (pitch() - gap) - beside, 2.0F * edge, ui.px(96)});
    }
};

Index columns_per_label(const Ui& ui, const HeatmapLayout& l, float widest, bool words, float gap) {
    if (!words) return label_step((widest + ui.px(6)) / l.cell.x);
    const float glyph = compat::text_size(ui.fonts.mono_small, "0").x;
    if (l.cell.x >= glyph + gap) return 1;
    return static_cast<Index>(std::ceil((std::min(widest, glyph * 5.0F) + gap) / l.cell.x));
}

ColumnLabels column_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const CellRect& seen,
                           Area area) {
    const std::span<const std::string> labels =
        std::span(d.heatmap.column_labels)
            .subspan(static_cast<std::size_t>(seen.column), static_cast<std::size_t>(seen.columns));
    float widest = 0.0F;
    for (const std::string& label : labels) widest = std::max(widest, compat::text_size(ui.fonts.mono_small, label).x);
    const bool words = !std::all_of(labels.begin(), labels.end(), is_index);
    const float gap = ui.px(3);
    return {ui, d, l, seen, area, words, columns_per_label(ui, l, widest, words, gap), gap};
}

// Where a label was drawn.
struct Taken {
    float low = 0.0F, high = 0.0F;
    [[nodiscard]] bool leaves(float from, float to) const { return to <= low || from >= high; }
};

// The whole label of a column that is pointed out. It stays within the area.
Taken draw_whole_label(const ColumnLabels& c, Index column, bool selected) {
    const std::string text = fitted(c.ui.fonts.mono_small, c.label(column), c.area.width());
    const float width = c.width(text);
    const float x =
        std::clamp(c.middle(column) - width * 0.5F, c.area.low.x, std::max(c.area.low.x, c.area.high.x - width));
    draw_pointed_out(c.ui, {x, c.l.column_labels_y}, width, text, selected);
    return {x - c.gap * 2, x + width + c.gap * 2};
}

}  // namespace

void draw_column_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const CellRect& seen, Area area,
                        const PointedOut& pointed) {
    const ColumnLabels c = column_labels(ui, d, l, seen, area);
    std::vector<Taken> taken;
    for (const auto& [spot, selected] : {std::pair{pointed.hovered, false}, std::pair{pointed.selected, true}}) {
        if (!spot || spot->second < seen.column || spot->second >= seen.column + seen.columns) continue;
        if (!taken.empty() && !taken.front().leaves(c.middle(spot->second), c.middle(spot->second))) continue;
        taken.push_back(draw_whole_label(c, spot->second, selected));
    }
    float free_from = area.low.x;
    for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
        if (column % c.every != 0) continue;
        const std::string text =
            c.words ? shortened(ui.fonts.mono_small, c.label(column), c.room(column)) : c.label(column);
        const float width = c.width(text), x = c.middle(column) - width * 0.5F;
        const bool free =
            std::all_of(taken.begin(), taken.end(), [&](const Taken& other) { return other.leaves(x, x + width); });
        if (text.empty() || !free || x < free_from || x + width > area.high.x + ui.px(4)) continue;
        draw_text(ui, ui.fonts.mono_small, {x, l.column_labels_y}, ui.theme.muted, text);
        free_from = x + width + ui.px(1);
    }
}

// ---- rows

void draw_row_labels(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const CellRect& seen, Area area,
                     const PointedOut& pointed) {
    if (!d.labels_rows) return;
    const Heatmap& h = d.heatmap;
    ImFont* font = ui.fonts.mono_small;
    const std::span<const std::string> labels =
        std::span(h.row_labels).subspan(static_cast<std::size_t>(seen.row), static_cast<std::size_t>(seen.rows));
    // Letters are lower than their line; other characters, such as a visible space, may not be.
    const bool plain = std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return std::all_of(label.begin(), label.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    });
    const float line = compat::font_size(font), letters = line * (plain ? 0.685F : 0.78F);
    const bool words = !std::all_of(labels.begin(), labels.end(), is_index);
    const Index every =
        words ? std::max<Index>(1, static_cast<Index>(std::ceil(letters / l.cell.y))) : label_step(letters / l.cell.y);
    const float room = l.cells.low.x - area.low.x - ui.px(6);
    const auto middle = [&](Index row) { return l.origin.y + (static_cast<float>(row) + 0.5F) * l.cell.y; };
    const auto is_pointed = [&](const std::optional<Spot>& spot, Index row) { return spot && spot->first == row; };
    const auto hides = [&](const std::optional<Spot>& spot, Index row) {
        return spot && spot->first != row && std::abs(middle(spot->first) - middle(row)) < letters;
    };
    for (Index r = seen.row; r < seen.row + seen.rows; ++r) {
        const bool hovered = is_pointed(pointed.hovered, r), selected = is_pointed(pointed.selected, r);
        if (hides(pointed.hovered, r) || (!hovered && hides(pointed.selected, r))) continue;
        if (!hovered && !selected && r % every != 0) continue;
        const std::string text = fitted(font, h.row_labels[static_cast<std::size_t>(r)], room);
        const float y = middle(r) - line * 0.5F, width = compat::text_size(font, text).x;
        if (y < l.cells.low.y - line * 0.5F || y + line > l.cells.high.y + line * 0.5F) continue;
        const ImVec2 at = {l.cells.low.x - ui.px(5) - width, y};
        if (hovered || selected)
            draw_pointed_out(ui, at, width, text, selected);
        else
            draw_text(ui, font, at, ui.theme.muted, text);
    }
}

void draw_title(const Ui& ui, const HeatmapDrawing& d, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Heatmap& h = d.heatmap;
    const float line = compat::font_size(ui.fonts.mono_small);
    const float r = ui.px(4);
    list.AddRectFilled({area.low.x, area.low.y + line * 0.5F - r + 1},
                       {area.low.x + r * 2, area.low.y + line * 0.5F + r + 1}, d.color, ui.px(2));
    const std::string axes = spoken_axes(h.row_axis, h.column_axis);
    const float axes_width = compat::text_size(ui.fonts.caption, axes).x;
    const float room = area.width() - ui.px(14);
    const float title_width =
        draw_text(ui, ui.fonts.mono_small, {area.low.x + ui.px(14), area.low.y}, ui.theme.text, h.title, room);
    if (title_width + axes_width + ui.px(12) < room)
        draw_text(ui, ui.fonts.caption, {area.high.x - axes_width, area.low.y}, ui.theme.muted, axes);
}

}  // namespace decoderscope
