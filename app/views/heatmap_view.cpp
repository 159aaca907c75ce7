#include "app/views/heatmap_view.h"

#include "app/core/export/text.h"
#include "app/views/imgui_compat.h"
#include "app/views/textures.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// Below this a cell has no room for a hatch; its colour tells the mask.
constexpr float kLeastHatched = 7.0F;
constexpr float kMostZoom = 400.0F;

// Where everything of one heatmap lies on the screen.
struct Layout {
    Area cells;     // what is seen of the cells
    ImVec2 cell;    // the size of one
    ImVec2 origin;  // where cell (0, 0) starts; outside of `cells` once panned
    float column_labels_y = 0.0F;
    float legend_y = 0.0F;
};

float label_width(const Ui& ui, const std::vector<std::string>& labels, float most) {
    // Labels are short and many: the longest few characters decide.
    float width = 0.0F;
    for (const std::string& label : labels) {
        if (width >= most) return most;
        width = std::max(width, compat::text_size(ui.fonts.mono_small, label).x);
    }
    return std::min(width, most);
}

// A cell's size where everything fits: square while that is no sliver, never much wider than high or higher than wide.
ImVec2 fitted_cell(const Ui& ui, const Heatmap& h, float width, float height) {
    const float w = width / static_cast<float>(h.columns), tall = height / static_cast<float>(h.rows);
    const float room = ui.px(26);
    return {std::min({w, std::max(tall, room), ui.px(96)}), std::min({tall, std::max(w, room), ui.px(96)})};
}

// What lies around the cells.
struct Margins {
    float left = 0.0F, title = 0.0F, top = 0.0F, bottom = 0.0F;
};

Margins margins(const Ui& ui, const Heatmap& h, float width, Legend legend = Legend::full) {
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(2);
    const float title = line + ui.px(6);
    const float left = label_width(ui, h.row_labels, width * 0.25F) + ui.px(8);
    const auto rows = static_cast<float>(legend_rows(ui, h, legend, width - left));
    return {left, title, title + line + ui.px(2), rows > 0.0F ? line * rows + ui.px(6) : ui.px(2)};
}

Layout lay_out(const Ui& ui, const HeatmapDrawing& d, Viewport& view, Area area) {
    const Heatmap& h = d.heatmap;
    const Margins around = margins(ui, h, area.width(), d.legend);
    Layout l;
    l.column_labels_y = area.low.y + around.title;
    l.cells.low = {std::floor(area.low.x + around.left), std::floor(area.low.y + around.top)};
    const float width = std::max(area.high.x - l.cells.low.x, 1.0F);
    const float height = std::max(area.high.y - around.bottom - l.cells.low.y, 1.0F);
    const ImVec2 fit = fitted_cell(ui, h, width, height);
    l.cell = {fit.x * view.zoom, fit.y * view.zoom};
    const float whole_w = l.cell.x * static_cast<float>(h.columns), whole_h = l.cell.y * static_cast<float>(h.rows);
    l.cells.high = {l.cells.low.x + std::min(width, whole_w), l.cells.low.y + std::min(height, whole_h)};
    view.origin.x =
        std::clamp(view.origin.x, 0.0F, std::max(0.0F, static_cast<float>(h.columns) - l.cells.width() / l.cell.x));
    view.origin.y =
        std::clamp(view.origin.y, 0.0F, std::max(0.0F, static_cast<float>(h.rows) - l.cells.height() / l.cell.y));
    l.origin = {l.cells.low.x - view.origin.x * l.cell.x, l.cells.low.y - view.origin.y * l.cell.y};
    l.legend_y = l.cells.high.y + ui.px(6);
    return l;
}

Area box_of(const Layout& l, const CellRect& cells) {
    return {{l.origin.x + static_cast<float>(cells.column) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row) * l.cell.y},
            {l.origin.x + static_cast<float>(cells.column + cells.columns) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row + cells.rows) * l.cell.y}};
}

// The cells that are at least partly seen.
CellRect seen_cells(const Layout& l, const Heatmap& h) {
    const auto first = [](float low, float origin, float size) {
        return static_cast<Index>(std::floor((low - origin) / size + 1e-3F));
    };
    const auto last = [](float high, float origin, float size) {
        return static_cast<Index>(std::ceil((high - origin) / size - 1e-3F));
    };
    CellRect seen;
    seen.row = std::clamp<Index>(first(l.cells.low.y, l.origin.y, l.cell.y), 0, h.rows - 1);
    seen.column = std::clamp<Index>(first(l.cells.low.x, l.origin.x, l.cell.x), 0, h.columns - 1);
    seen.rows = std::clamp<Index>(last(l.cells.high.y, l.origin.y, l.cell.y), seen.row + 1, h.rows) - seen.row;
    seen.columns =
        std::clamp<Index>(last(l.cells.high.x, l.origin.x, l.cell.x), seen.column + 1, h.columns) - seen.column;
    return seen;
}

// ---- the picture

std::vector<std::uint32_t> packed(const std::vector<Rgba>& colors) {
    std::vector<std::uint32_t> pixels;
    pixels.reserve(colors.size());
    for (const Rgba color : colors) pixels.push_back(to_imgui(color));
    return pixels;
}

// One hash of what a picture depends on.
std::uint64_t version_of(const HeatmapDrawing& d, const Theme& theme, const CellRect& seen, Index width, Index height) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto part :
         {d.version, static_cast<std::uint64_t>(theme.dark), static_cast<std::uint64_t>(theme.sequential),
          static_cast<std::uint64_t>(seen.row), static_cast<std::uint64_t>(seen.column),
          static_cast<std::uint64_t>(seen.rows), static_cast<std::uint64_t>(seen.columns),
          static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height)})
        hash = (hash ^ part) * 0x100000001b3ULL;
    return hash;
}

void draw_cells(const Ui& ui, const HeatmapDrawing& d, const Layout& l, const CellRect& seen) {
    const Heatmap& h = d.heatmap;
    const ColorMap map = map_of(ui.theme, h.scale);
    const bool dark = ui.theme.dark;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area box = box_of(l, seen);
    // Cells smaller than a pixel are reduced, so that no extreme can hide; larger ones are a texture of the seen cells.
    const Index width = std::min<Index>(seen.columns, std::max<Index>(1, static_cast<Index>(l.cells.width())));
    const Index height = std::min<Index>(seen.rows, std::max<Index>(1, static_cast<Index>(l.cells.height())));
    const std::uint64_t version = version_of(d, ui.theme, seen, width, height);
    ImTextureID texture = ui.textures.find(d.key, version);
    if (texture == ImTextureID()) {
        const std::vector<Rgba> colors = reduced_colors(h, seen, height, width, map, dark);
        texture = ui.textures.upload(d.key, static_cast<int>(width), static_cast<int>(height), packed(colors), version);
    }
    compat::add_pixels(list, texture, box.low, box.high);
}

void draw_hatches(const Ui& ui, const HeatmapDrawing& d, const Layout& l) {
    if (std::min(l.cell.x, l.cell.y) < ui.px(kLeastHatched) || d.heatmap.hidden.empty()) return;
    for (const HiddenBlock& block : hidden_blocks(d.heatmap)) {
        const Area box = box_of(l, block.cells);
        const bool seen = box.high.x > l.cells.low.x && box.low.x < l.cells.high.x && box.high.y > l.cells.low.y &&
                          box.low.y < l.cells.high.y;
        if (seen) draw_hatch(ui, block.causes, box, ui.px(7));
    }
}

// Hair lines between the cells that are seen, where these have room for them, and around all.
void draw_grid(const Ui& ui, const Layout& l, const CellRect& seen) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = ui.theme.line;
    compat::add_rect(list, l.cells.low, l.cells.high, color, 0, 1.0F);
    if (std::min(l.cell.x, l.cell.y) < ui.px(6)) return;
    for (Index row = seen.row + 1; row < seen.row + seen.rows; ++row) {
        const float y = std::floor(l.origin.y + static_cast<float>(row) * l.cell.y);
        list.AddLine({l.cells.low.x, y}, {l.cells.high.x, y}, color, 1.0F);
    }
    for (Index column = seen.column + 1; column < seen.column + seen.columns; ++column) {
        const float x = std::floor(l.origin.x + static_cast<float>(column) * l.cell.x);
        list.AddLine({x, l.cells.low.y}, {x, l.cells.high.y}, color, 1.0F);
    }
}

bool is_hidden(const Heatmap& h, Index row, Index column) {
    return !h.hidden.empty() && h.hidden[static_cast<std::size_t>(row * h.columns + column)] != hidden_by::nothing;
}

// The most significant digits, up to four, with which the number of every cell that is seen fits into it; 0 where none
// do. All cells show as many, so that none looks emptier than its neighbour.
int digits_that_fit(const Ui& ui, const Heatmap& h, const Layout& l, const CellRect& seen) {
    if (l.cell.y < compat::font_size(ui.fonts.mono_small) + ui.px(2)) return 0;
    const float glyph = compat::text_size(ui.fonts.mono_small, "0").x;
    const auto room = static_cast<std::size_t>((l.cell.x - ui.px(4)) / glyph);
    for (int digits = 4; digits >= 2; --digits) {
        std::size_t longest = 0;
        for (Index row = seen.row; row < seen.row + seen.rows && longest <= room; ++row)
            for (Index column = seen.column; column < seen.column + seen.columns && longest <= room; ++column)
                // A fill such as −1e9 is told by the hatch and need not fit.
                if (!is_hidden(h, row, column))
                    longest = std::max(
                        longest, characters(short_number_text(static_cast<double>(h.at(row, column)), digits)).size());
        if (longest <= room) return digits;
    }
    return 0;
}

void draw_numbers(const Ui& ui, const HeatmapDrawing& d, const Layout& l, const CellRect& seen) {
    const Heatmap& h = d.heatmap;
    const int digits = digits_that_fit(ui, h, l, seen);
    if (digits == 0) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ColorMap map = map_of(ui.theme, h.scale);
    for (Index row = seen.row; row < seen.row + seen.rows; ++row) {
        for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
            const std::string text = short_number_text(static_cast<double>(h.at(row, column)), digits);
            const ImVec2 size = compat::text_size(ui.fonts.mono_small, text);
            const Area box = box_of(l, {row, column, 1, 1});
            const Rgba background = cell_color(h, row, column, map, ui.theme.dark);
            const ImVec2 at = {std::floor((box.low.x + box.high.x - size.x) * 0.5F),
                               std::floor((box.low.y + box.high.y - size.y) * 0.5F)};
            if (size.x > l.cell.x - ui.px(2)) continue;
            // On a hatch the number needs ground of its own.
            if (is_hidden(h, row, column))
                list.AddRectFilled({at.x - 2, at.y}, {at.x + size.x + 2, at.y + size.y}, to_imgui(background));
            compat::add_text(list, ui.fonts.mono_small, at, to_imgui(text_color_on(background)), text);
        }
    }
}

// A corner cut off in the accent colour: this cell is not what it was without edits.
void draw_changes(const Ui& ui, const HeatmapDrawing& d, const Layout& l, const CellRect& seen) {
    if (d.changed == nullptr || d.changed->empty() || std::min(l.cell.x, l.cell.y) < ui.px(3)) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float size = std::min({l.cell.x, l.cell.y, ui.px(16)}) * 0.5F;
    for (Index row = seen.row; row < seen.row + seen.rows; ++row) {
        for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
            if ((*d.changed)[static_cast<std::size_t>(row * d.heatmap.columns + column)] == 0) continue;
            const Area box = box_of(l, {row, column, 1, 1});
            const ImVec2 corner = {box.high.x, box.low.y};
            list.AddTriangleFilled({corner.x - size - 2, corner.y}, corner, {corner.x, corner.y + size + 2},
                                   ui.theme.background);
            list.AddTriangleFilled({corner.x - size, corner.y}, corner, {corner.x, corner.y + size}, ui.theme.accent);
        }
    }
}

void outline(const Ui& ui, Area box, ImU32 color, float thickness) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    compat::add_rect(list, {box.low.x - 1, box.low.y - 1}, {box.high.x + 1, box.high.y + 1}, ui.theme.background, 0,
                     thickness + 2);
    compat::add_rect(list, box.low, box.high, color, 0, thickness);
}

// ---- around the picture

// Every how many cells there is room for a label, of 1, 2, 5, 10, 20, …
Index label_step(float cells_per_label) {
    for (Index decade = 1;; decade *= 10)
        for (const Index step : {decade, 2 * decade, 5 * decade})
            if (static_cast<float>(step) >= cells_per_label) return step;
}

bool is_index(const std::string& label) {
    return std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Indices stand at even steps; words wherever there is room beside the one before. The column under the mouse has its
// label before all.
void draw_column_labels(const Ui& ui, const HeatmapDrawing& d, const Layout& l, const CellRect& seen, Area area,
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
    float taken_low = 0.0F, taken_high = 0.0F;  // by the hovered column's label
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

void draw_row_labels(const Ui& ui, const HeatmapDrawing& d, const Layout& l, const CellRect& seen, Area area,
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

// ---- the mouse

std::optional<Spot> spot_at(const Layout& l, const Heatmap& h, ImVec2 mouse) {
    if (!l.cells.contains(mouse)) return std::nullopt;
    return Spot{std::clamp<Index>(static_cast<Index>((mouse.y - l.origin.y) / l.cell.y), 0, h.rows - 1),
                std::clamp<Index>(static_cast<Index>((mouse.x - l.origin.x) / l.cell.x), 0, h.columns - 1)};
}

void zoom_at(Viewport& view, const Layout& l, ImVec2 mouse, float notches) {
    const float zoom = std::clamp(view.zoom * std::pow(1.2F, notches), 1.0F, kMostZoom);
    const ImVec2 at = {(mouse.x - l.origin.x) / l.cell.x, (mouse.y - l.origin.y) / l.cell.y};  // in cells
    const float ratio = view.zoom / zoom;
    view.origin = {at.x - (at.x - view.origin.x) * ratio, at.y - (at.y - view.origin.y) * ratio};
    view.zoom = zoom;
}

HeatmapGesture use_mouse(const HeatmapDrawing& d, const Layout& l, Viewport& view) {
    ImGui::SetCursorScreenPos(l.cells.low);
    ImGui::PushID(static_cast<int>(d.key));
    ImGui::InvisibleButton(
        "cells", {std::max(l.cells.width(), 1.0F), std::max(l.cells.height(), 1.0F)},
        ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
    ImGui::PopID();
    const ImGuiIO& io = ImGui::GetIO();
    const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
    HeatmapGesture gesture;
    if (hovered || active) gesture.hovered = spot_at(l, d.heatmap, io.MousePos);
    if (hovered && io.MouseWheel != 0.0F) zoom_at(view, l, io.MousePos, io.MouseWheel);
    if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) view = {};
    // A quick stroke moves on in the frame in which the button is let go.
    const auto held = [](ImGuiMouseButton button) {
        return ImGui::IsMouseDown(button) || ImGui::IsMouseReleased(button);
    };
    const bool touched = active || ImGui::IsItemDeactivated();
    const bool brush =
        d.paintable && touched && (held(ImGuiMouseButton_Right) || (d.painting && held(ImGuiMouseButton_Left)));
    if (brush && gesture.hovered) {
        gesture.painted = gesture.hovered;
        gesture.paint_begins = ImGui::IsItemActivated();
        return gesture;
    }
    const bool pans = active && (ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 2.0F) ||
                                 (view.zoom > 1.0F && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4.0F)));
    if (pans) {
        view.origin.x -= io.MouseDelta.x / l.cell.x;
        view.origin.y -= io.MouseDelta.y / l.cell.y;
    }
    const ImVec2 pressed_at = io.MouseClickedPos[ImGuiMouseButton_Left];
    const bool still = std::abs(io.MousePos.x - pressed_at.x) + std::abs(io.MousePos.y - pressed_at.y) < 4.0F;
    if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && still && !d.painting &&
        l.cells.contains(pressed_at))
        gesture.clicked = gesture.hovered;
    return gesture;
}

}  // namespace

float fitted_height(const Ui& ui, const Heatmap& heatmap, float width, float most) {
    const Margins around = margins(ui, heatmap, width);
    const ImVec2 cell =
        fitted_cell(ui, heatmap, width - around.left, std::max(most - around.top - around.bottom, 1.0F));
    return std::min(most, around.top + cell.y * static_cast<float>(heatmap.rows) + around.bottom);
}

HeatmapGesture draw_heatmap(const Ui& ui, const HeatmapDrawing& d, Viewport& view, Area area) {
    const Layout l = lay_out(ui, d, view, area);
    const HeatmapGesture gesture = use_mouse(d, l, view);
    const CellRect seen = seen_cells(l, d.heatmap);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    draw_title(ui, d, area);
    draw_column_labels(ui, d, l, seen, area, gesture.hovered);
    draw_row_labels(ui, d, l, seen, area, gesture.hovered);
    list.PushClipRect({l.cells.low.x - 2, l.cells.low.y - 2}, {l.cells.high.x + 2, l.cells.high.y + 2}, true);
    draw_cells(ui, d, l, seen);
    draw_hatches(ui, d, l);
    if (d.grid) draw_grid(ui, l, seen);
    draw_numbers(ui, d, l, seen);
    draw_changes(ui, d, l, seen);
    if (d.stale) list.AddRectFilled(l.cells.low, l.cells.high, with_alpha(ui.theme.background, 0.45F));
    if (d.lit) outline(ui, box_of(l, *d.lit), ui.theme.accent, ui.px(2));
    if (d.selected) outline(ui, box_of(l, {d.selected->first, d.selected->second, 1, 1}), ui.theme.accent, ui.px(2.5F));
    if (gesture.hovered)
        outline(ui, box_of(l, {gesture.hovered->first, gesture.hovered->second, 1, 1}), ui.theme.text, ui.px(1));
    list.PopClipRect();
    draw_legend(ui, d.heatmap, d.legend, {l.cells.low.x, l.legend_y}, area.high.x - l.cells.low.x);
    return gesture;
}

}  // namespace decoderscope
