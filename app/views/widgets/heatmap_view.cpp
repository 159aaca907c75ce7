#include "app/views/widgets/heatmap_view.h"

#include "app/core/figure/cell_text.h"
#include "app/core/figure/colormap.h"
#include "app/core/figure/figure.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views {

namespace {

float bar_length(const Ui& ui, float width) { return std::clamp(width * 0.25F, ui.px(40), ui.px(96)); }

float bar_width(const Ui& ui, const core::Heatmap& h, float width) {
    const auto text = [&](float value) {
        return compat::text_size(ui.fonts.mono_small, short_number(static_cast<double>(value))).x;
    };
    return text(h.range.low) + ui.px(5) + bar_length(ui, width) + ui.px(5) + text(h.range.high);
}

// ---- what the bar has no colour for

float mark_width(const Ui& ui, core::Mark mark) {
    return ui.px(17) + compat::text_size(ui.fonts.caption, std::string(core::mark_text(mark))).x + ui.px(10);
}

float marks_width(const Ui& ui, const core::MarksIn& found) {
    float width = 0.0F;
    for (const core::Mark mark : found.marks) width += mark_width(ui, mark);
    return width;
}

Area draw_swatch(const Ui& ui, ImVec2 at, core::Rgba color, const std::string& text) {
    const float line = compat::font_size(ui.fonts.mono_small), side = ui.px(12);
    const ImVec2 low = {at.x, at.y + (line - side) * 0.5F};
    const Area swatch = {low, {low.x + side, low.y + side}};
    ImGui::GetWindowDrawList()->AddRectFilled(swatch.low, swatch.high, to_imgui(color));
    draw_text(ui, ui.note(), {swatch.high.x + ui.px(5), at.y}, text);
    return swatch;
}

void draw_marks(const Ui& ui, const core::Heatmap& h, const core::MarksIn& found, ImVec2 at) {
    for (const core::Mark mark : found.marks) {
        draw_swatch(ui, at, core::mark_color(mark, map_of(ui.theme, h.scale), ui.theme.dark),
                    std::string(core::mark_text(mark)));
        at.x += mark_width(ui, mark);
    }
}

// One kind of hatch: a combination of masks that hide a cell. x counts from where the cells start.
struct LegendEntry {
    std::uint8_t causes;
    std::string text;
    float x;
    int row;
};

// `taken`: what the marks beside the bar take.
std::vector<LegendEntry> legend_entries(const Ui& ui, const core::Heatmap& h, float width, float taken) {
    std::array<bool, 64> occurs{};
    for (const std::uint8_t causes : h.hidden) occurs[causes & 63U] = true;
    std::vector<LegendEntry> entries;
    const std::optional<float> fill = core::fill_of(h);
    float x = bar_width(ui, h, width) + ui.px(14) + taken;
    int row = 0;
    for (std::uint8_t causes = 1; causes < occurs.size(); ++causes) {
        if (!occurs[causes]) continue;
        const std::string text = core::filled_text(causes, fill);
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

void draw_bar(const Ui& ui, const core::Heatmap& h, ImVec2 at, float width) {
    const auto number = [&](float x, float value) {
        return draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, at.y},
                         short_number(static_cast<double>(value)));
    };
    const float length = bar_length(ui, width), middle = at.y + compat::font_size(ui.fonts.mono_small) * 0.5F;
    const float start = at.x + number(at.x, h.range.low) + ui.px(5);
    draw_color_bar(ui, {{start, middle - ui.px(4)}, {start + length, middle + ui.px(4)}}, h.range, h.scale,
                   map_of(ui.theme, h.scale), 48);
    number(start + length + ui.px(5), h.range.high);
}

// Whether the bar's marks are below it: beside it even numbers of the usual length leave no room for one. The marks
// that come with an edit move nothing, so it doesn't depend on them.
bool marks_below_bar(const Ui& ui, float width) {
    const float numbers = 2.0F * compat::text_size(ui.fonts.mono_small, "−0.0000").x;
    return numbers + ui.px(10) + bar_length(ui, width) + ui.px(12) + mark_width(ui, core::Mark::nan) > width;
}

// Below this size a cell has no room for a hatch; its colour shows the mask.
constexpr float kLeastHatched = 7.0F;
constexpr float kMostZoom = 400.0F;

// ---- the picture

void draw_cells(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
    const core::Heatmap& h = d.heatmap;
    const core::ColorMap map = map_of(ui.theme, h.scale);
    const bool dark = ui.theme.dark;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area box = box_of(l, seen);
    // Cells smaller than a pixel are reduced, so that no extreme can hide; larger ones are a texture of the seen cells.
    const Index width = std::min<Index>(seen.columns, std::max<Index>(1, static_cast<Index>(l.cells.width())));
    const Index height = std::min<Index>(seen.rows, std::max<Index>(1, static_cast<Index>(l.cells.height())));
    const std::uint64_t version = picture_version(
        ui.theme, {static_cast<Index>(d.version), seen.row, seen.column, seen.rows, seen.columns, width, height});
    ImTextureID texture = ui.textures.find(d.key, version);
    if (texture == ImTextureID()) {
        const std::vector<core::Rgba> colors = core::reduced_colors(h, seen, height, width, map, dark);
        texture =
            ui.textures.upload(d.key, static_cast<int>(width), static_cast<int>(height), to_imgui(colors), version);
    }
    compat::add_pixels(list, texture, box.low, box.high);
}

void draw_hatches(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l) {
    if (std::min(l.cell.x, l.cell.y) < ui.px(kLeastHatched) || d.heatmap.hidden.empty()) return;
    for (const core::HiddenBlock& block : core::hidden_blocks(d.heatmap)) {
        const Area box = box_of(l, block.cells);
        const bool seen = box.high.x > l.cells.low.x && box.low.x < l.cells.high.x && box.high.y > l.cells.low.y &&
                          box.low.y < l.cells.high.y;
        if (seen) draw_hatch(ui, block.causes, box, ui.px(7));
    }
}

// Hairlines around the visible cells, and between them if there is room.
void draw_grid(const Ui& ui, const HeatmapLayout& l, const core::CellRect& seen) {
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

bool is_hidden(const core::Heatmap& h, Index row, Index column) {
    return !h.hidden.empty() &&
           h.hidden[static_cast<std::size_t>(row * h.columns + column)] != core::hidden_by::nothing;
}

void draw_numbers(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
    const core::Heatmap& h = d.heatmap;
    const std::size_t room = characters_in(ui, l.cell);
    if (room == 0) return;
    const std::vector<std::string> texts = core::cell_texts(
        h, seen, room, d.legend == Legend::full ? core::FillPlace::in_legend : core::FillPlace::in_cells);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::ColorMap map = map_of(ui.theme, h.scale);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& text = texts[i];
        if (text.empty()) continue;
        const Index row = seen.row + static_cast<Index>(i) / seen.columns,
                    column = seen.column + static_cast<Index>(i) % seen.columns;
        const ImVec2 size = compat::text_size(ui.fonts.mono_small, text);
        const Area box = box_of(l, {row, column, 1, 1});
        const core::Rgba background = core::cell_color(h, row, column, map, ui.theme.dark);
        const ImVec2 at = {std::floor((box.low.x + box.high.x - size.x) * 0.5F),
                           std::floor((box.low.y + box.high.y - size.y) * 0.5F)};
        // On a hatch the number needs its own background.
        if (is_hidden(h, row, column))
            list.AddRectFilled({at.x - 2, std::max(at.y, box.low.y)},
                               {at.x + size.x + 2, std::min(at.y + size.y, box.high.y)}, to_imgui(background));
        compat::add_text(list, ui.fonts.mono_small, at, to_imgui(core::text_color_on(background)), text);
    }
}

// A corner cut off in the accent colour: this cell differs from the unedited run.
void draw_changes(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
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

// On a row's note, the first of its cells that is seen has the mark.
void draw_notes(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
    for (const core::NotedCell& note : d.notes) {
        const Index column = note.column.value_or(seen.column);
        const bool is_seen = note.row >= seen.row && note.row < seen.row + seen.rows && column >= seen.column &&
                             column < seen.column + seen.columns;
        if (is_seen) draw_note_mark(ui, box_of(l, {note.row, column, 1, 1}));
    }
}

// The mark of a file's number: a square in the lower left corner, told from any cell's colour by its edge.
void draw_colored(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, const core::CellRect& seen) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const ColoredCell& cell : d.colored) {
        if (cell.row < seen.row || cell.row >= seen.row + seen.rows || cell.column < seen.column ||
            cell.column >= seen.column + seen.columns)
            continue;
        const Area box = box_of(l, {cell.row, cell.column, 1, 1});
        const float size = std::clamp(std::min(box.width(), box.height()) * 0.5F, ui.px(3), ui.px(9));
        list.AddRectFilled({box.low.x, box.high.y - size - 1}, {box.low.x + size + 1, box.high.y}, ui.theme.text);
        list.AddRectFilled({box.low.x, box.high.y - size}, {box.low.x + size, box.high.y}, cell.color);
    }
}

void outline(const Ui& ui, Area box, ImU32 color, float thickness) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    compat::add_rect(list, {box.low.x - 1, box.low.y - 1}, {box.high.x + 1, box.high.y + 1}, ui.theme.background, 0,
                     thickness + 2);
    compat::add_rect(list, box.low, box.high, color, 0, thickness);
}

// The row and the column of a cell, as bands between two lines each; the cell itself keeps its colour.
void draw_bands(const Ui& ui, const HeatmapLayout& l, Area box, ImU32 color) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 veil = with_alpha(color, ui.large_pointer ? 0.20F : 0.10F), edge = with_alpha(color, 0.65F);
    const float line = ui.px(ui.large_pointer ? 3.0F : 1.0F);
    const Area& all = l.cells;
    const std::array<Area, 4> arms = {
        Area{{all.low.x, box.low.y}, {box.low.x, box.high.y}}, Area{{box.high.x, box.low.y}, {all.high.x, box.high.y}},
        Area{{box.low.x, all.low.y}, {box.high.x, box.low.y}}, Area{{box.low.x, box.high.y}, {box.high.x, all.high.y}}};
    for (std::size_t i = 0; i < arms.size(); ++i) {
        const Area& arm = arms[i];
        if (arm.width() <= 0.0F || arm.height() <= 0.0F) continue;
        list.AddRectFilled(arm.low, arm.high, veil);
        const bool along_row = i < 2;
        list.AddLine(arm.low, along_row ? ImVec2{arm.high.x, arm.low.y} : ImVec2{arm.low.x, arm.high.y}, edge, line);
        list.AddLine(along_row ? ImVec2{arm.low.x, arm.high.y} : ImVec2{arm.high.x, arm.low.y}, arm.high, edge, line);
    }
}

// The selected and the hovered cell, with their rows and columns.
void draw_pointer(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, std::optional<Spot> hovered) {
    const auto box = [&](Spot spot) { return box_of(l, {spot.first, spot.second, 1, 1}); };
    if (d.selected) draw_bands(ui, l, box(*d.selected), ui.theme.accent);
    if (hovered) draw_bands(ui, l, box(*hovered), ui.theme.text);
    if (d.lit) outline(ui, box_of(l, *d.lit), ui.theme.accent, ui.px(2));
    if (d.selected) outline(ui, box(*d.selected), ui.theme.accent, ui.px(ui.large_pointer ? 5.0F : 2.5F));
    if (hovered) outline(ui, box(*hovered), ui.theme.text, ui.px(ui.large_pointer ? 4.0F : 1.5F));
}

// ---- the cells as a table

// What stands in a cell, and what a picture says of it by marks.
std::string said_cell(const HeatmapDrawing& d, Index row, Index column, std::string text) {
    const auto i = static_cast<std::size_t>(row * d.heatmap.columns + column);
    if (is_hidden(d.heatmap, row, column))
        text = text.empty() ? tr("masked") : tr("{number}, masked", {{"number", text}});
    if (d.heatmap.has_vanished(i)) text = tr("{number}, rounded to 0", {{"number", text}});
    if (d.changed != nullptr && !d.changed->empty() && (*d.changed)[i] != 0)
        text = tr("{number}, changed", {{"number", text}});
    return text;
}

DocumentTable table_of(const HeatmapDrawing& d, const core::CellRect& seen, const DrawnTile& tile) {
    constexpr Index kMost = 32;
    const core::Heatmap& h = d.heatmap;
    const auto from = [](Index first, Index all) { return std::max<Index>(std::min(first, all - kMost), 0); };
    const core::CellRect shown = {from(seen.row, h.rows), from(seen.column, h.columns), std::min(h.rows, kMost),
                                  std::min(h.columns, kMost)};
    DocumentTable table = {.key = d.key,
                           .title = h.title,
                           .row_axis = h.row_axis,
                           .column_axis = h.column_axis,
                           .rows = {},
                           .columns = {},
                           .cells = {},
                           .first_row = shown.row,
                           .first_column = shown.column,
                           .all_rows = h.rows,
                           .all_columns = h.columns,
                           .selected = d.selected};
    if (!h.subtitle.empty()) table.title += ", " + h.subtitle;
    for (Index row = 0; row < shown.rows; ++row)
        table.rows.push_back(h.row_labels[static_cast<std::size_t>(shown.row + row)]);
    for (Index column = 0; column < shown.columns; ++column)
        table.columns.push_back(h.column_labels[static_cast<std::size_t>(shown.column + column)]);
    constexpr std::size_t kDigits = 8;
    if (d.tile) {
        const core::CellRect of_tile = {shown.row - tile.tile.cells.row, shown.column - tile.tile.cells.column,
                                        shown.rows, shown.columns};
        table.cells.assign(static_cast<std::size_t>(shown.rows * shown.columns), "…");
        const bool is_read = tile.heatmap != nullptr && tile.tile.is_exact() && of_tile.row >= 0 &&
                             of_tile.column >= 0 && of_tile.row + of_tile.rows <= tile.heatmap->rows &&
                             of_tile.column + of_tile.columns <= tile.heatmap->columns;
        if (is_read) table.cells = core::cell_texts(*tile.heatmap, of_tile, kDigits);
        return table;
    }
    const std::vector<std::string> texts = core::cell_texts(h, shown, kDigits);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const Index row = shown.row + static_cast<Index>(i) / shown.columns,
                    column = shown.column + static_cast<Index>(i) % shown.columns;
        table.cells.push_back(said_cell(d, row, column, texts[i]));
    }
    return table;
}

// ---- what is out of sight

// Which part of the matrix is visible, as a bar at the bottom and one at the right.
void draw_position(const Ui& ui, const HeatmapLayout& l, const core::Heatmap& h) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float thick = ui.px(3);
    const auto bar = [&](float low, float high, float origin, float all, auto draw) {
        if (all <= high - low + 1.0F) return;
        const float from = (low - origin) / all, to = (high - origin) / all;
        draw(low + (high - low) * from, low + (high - low) * to);
    };
    const ImU32 color = with_alpha(ui.theme.text, 0.8F);
    bar(l.cells.low.x, l.cells.high.x, l.origin.x, l.cell.x * static_cast<float>(h.columns), [&](float from, float to) {
        list.AddRectFilled({from, l.cells.high.y - thick}, {to, l.cells.high.y}, color, thick);
    });
    bar(l.cells.low.y, l.cells.high.y, l.origin.y, l.cell.y * static_cast<float>(h.rows), [&](float from, float to) {
        list.AddRectFilled({l.cells.high.x - thick, from}, {l.cells.high.x, to}, color, thick);
    });
}

// ---- the mouse

void zoom_at(Viewport& view, const HeatmapLayout& l, ImVec2 mouse, float notches) {
    const float zoom = std::clamp(view.zoom * std::pow(1.2F, notches), l.least_zoom, kMostZoom);
    const ImVec2 at = {(mouse.x - l.origin.x) / l.cell.x, (mouse.y - l.origin.y) / l.cell.y};  // in cells
    const float ratio = view.zoom / zoom;
    view.origin = {at.x - (at.x - view.origin.x) * ratio, at.y - (at.y - view.origin.y) * ratio};
    view.zoom = zoom;
}

bool overflows(const HeatmapLayout& l, const core::Heatmap& h) {
    return l.cell.x * static_cast<float>(h.columns) > l.cells.width() + 1.0F ||
           l.cell.y * static_cast<float>(h.rows) > l.cells.height() + 1.0F;
}

// Whether the stroke of a brush began on a key: the sink's column has no mask.
bool began_on_a_key(const HeatmapDrawing& d, const HeatmapLayout& l) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool right = ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseReleased(ImGuiMouseButton_Right);
    const auto spot = spot_at(l, d.heatmap, io.MouseClickedPos[right ? ImGuiMouseButton_Right : ImGuiMouseButton_Left]);
    return !spot || spot->second < d.heatmap.own_columns();
}

HeatmapGesture use_mouse(const HeatmapDrawing& d, const HeatmapLayout& l, Viewport& view) {
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
    if (hovered && io.MouseWheel != 0.0F && (!d.scrolls_with || io.KeyCtrl))
        zoom_at(view, l, io.MousePos, io.MouseWheel);
    // A double click shows the picture as it was first; if it was and not all of it is visible, all of it.
    if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        view = view.zoom == 1.0F && l.least_zoom < 1.0F ? Viewport{.zoom = l.least_zoom} : Viewport{};
    // A quick stroke may still move in the frame that releases the button.
    const auto held = [](ImGuiMouseButton button) {
        return ImGui::IsMouseDown(button) || ImGui::IsMouseReleased(button);
    };
    const bool touched = active || ImGui::IsItemDeactivated();
    const bool brush =
        d.paintable && touched && (held(ImGuiMouseButton_Right) || (d.painting && held(ImGuiMouseButton_Left)));
    if (brush && gesture.hovered && began_on_a_key(d, l)) {
        if (gesture.hovered->second >= d.heatmap.own_columns()) return gesture;
        gesture.painted = gesture.hovered;
        gesture.paint_begins = ImGui::IsItemActivated();
        return gesture;
    }
    const bool pans = active && (ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 2.0F) ||
                                 (overflows(l, d.heatmap) && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4.0F)));
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

ImVec2 size_of(std::span<const TooltipLine> lines) {
    const ImGuiStyle& style = ImGui::GetStyle();
    ImVec2 size = {0, style.WindowPadding.y * 2};
    for (const TooltipLine& line : lines) {
        const ImVec2 text = compat::text_size(line.font, line.text);
        size = {std::max(size.x, text.x), size.y + text.y + style.ItemSpacing.y};
    }
    return {size.x + style.WindowPadding.x * 2, size.y};
}

// On one of the two sides of `low` to `high`: behind it if there is room up to `last`, otherwise before it.
float beside(float low, float high, float length, float first, float last) {
    const bool behind = high + length <= last || low - length < first;
    return std::clamp(behind ? high : low - length, first, std::max(first, last - length));
}

// At a corner of the cell, so that it covers neither its row nor its column: below it to the right, if there is room.
// It stays within the part of the window that the picture is in, for beside that a click is explained. `apart`, if it
// has room above or below: it covers nothing of that.
ImVec2 place_of(const Ui& ui, const Area& cell, ImVec2 size, const Area& apart) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize, low = ImGui::GetWindowPos();
    const float gap = ui.px(6), end = std::min(screen.x, low.x + ImGui::GetWindowWidth());
    const bool within = size.x <= end - low.x;
    const float x = beside(cell.low.x - gap, cell.high.x + gap, size.x, within ? low.x : 0.0F, within ? end : screen.x);
    const bool over = apart.low.y - gap - size.y >= 0.0F, under = apart.high.y + size.y <= screen.y;
    const bool nearer_over = cell.low.y - apart.low.y < apart.high.y - cell.high.y;
    if (apart.height() > 0.0F && (over || under))
        return {x, over && (nearer_over || !under) ? apart.low.y - gap - size.y
                                                   : std::min(apart.high.y + gap, screen.y - size.y)};
    return {x, beside(cell.low.y - gap, cell.high.y + gap, size.y, 0.0F, screen.y)};
}

}  // namespace

// FNV-1a.
std::uint64_t heatmap_key(std::string_view what, std::uint64_t number) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash + number;
}

std::uint64_t picture_version(const Theme& theme, std::initializer_list<Index> parts) {
    std::uint64_t hash =
        0xcbf29ce484222325ULL ^ (theme.dark ? 1U : 0U) ^ (static_cast<std::uint64_t>(theme.sequential) << 1U);
    for (const Index part : parts) hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x100000001b3ULL;
    return hash;
}

void draw_color_bar(const Ui& ui, Area area, core::Range range, core::Scale scale, core::ColorMap map, int pieces) {
    for (int i = 0; i < pieces; ++i) {
        const float from = static_cast<float>(i) / static_cast<float>(pieces),
                    piece = 1.0F / static_cast<float>(pieces);
        const core::Rgba color = core::color_of(range.low + (from + piece * 0.5F) * (range.high - range.low), range,
                                                scale, map, ui.theme.dark);
        ImGui::GetWindowDrawList()->AddRectFilled({area.low.x + area.width() * from, area.low.y},
                                                  {area.low.x + area.width() * (from + piece), area.high.y},
                                                  to_imgui(color));
    }
}

int legend_rows(const Ui& ui, const core::Heatmap& heatmap, Legend legend, float width) {
    if (legend == Legend::none) return 0;
    if (legend == Legend::bar) return marks_below_bar(ui, width) ? 2 : 1;
    const std::vector<LegendEntry> entries = legend_entries(ui, heatmap, width, 0.0F);
    // If masks apply, there is room for one more kind than usual: the first painted cell must not move the others.
    const int least = heatmap.hidden.empty() ? 1 : 3;
    return entries.empty() ? least : std::max(least, entries.back().row + 1);
}

void draw_hatch(const Ui& ui, std::uint8_t causes, Area box, float spacing) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::figure::HatchedRectangle hatched = {.box = {box.low.x, box.low.y, box.width(), box.height()},
                                                    .hatch = core::hatch_of(causes),
                                                    .color = core::hatch_color(causes, ui.theme.dark),
                                                    .spacing = static_cast<double>(spacing),
                                                    .width = static_cast<double>(ui.px(1))};
    const auto width = static_cast<float>(core::figure::stroke_width(hatched));
    const ImU32 color = to_imgui(hatched.color);
    for (const core::figure::Segment& s : core::figure::hatch_segments(hatched)) {
        const ImVec2 from(static_cast<float>(s.x1), static_cast<float>(s.y1)),
            to(static_cast<float>(s.x2), static_cast<float>(s.y2));
        if (hatched.hatch == core::Hatch::dots)
            list.AddCircleFilled(from, width * 0.6F, color, 8);
        else
            list.AddLine(from, to, color, width);
    }
}

void draw_legend(const Ui& ui, const core::Heatmap& heatmap, Legend legend, ImVec2 start, float width) {
    if (legend == Legend::none) return;
    const core::MarksIn found = core::marks_in(heatmap);
    const bool below = legend == Legend::bar && found.has_scale && marks_below_bar(ui, width);
    const float marks = below ? 0.0F : marks_width(ui, found),
                bar = found.has_scale ? bar_width(ui, heatmap, width) : 0.0F;
    // Under narrow cells it starts under the row labels, rather than run into what is next to the heatmap.
    const float gap = bar > 0.0F && marks > 0.0F ? ui.px(12) : 0.0F,
                too_wide = std::max(0.0F, bar + gap + marks - width);
    if (found.has_scale) draw_bar(ui, heatmap, {start.x - too_wide, start.y}, width);
    if (below)
        draw_marks(ui, heatmap, found, {start.x, start.y + compat::font_size(ui.fonts.mono_small) + ui.px(2)});
    else
        draw_marks(ui, heatmap, found, {start.x - too_wide + bar + gap, start.y});
    if (legend == Legend::bar) return;
    const float line = compat::font_size(ui.fonts.mono_small);
    for (const LegendEntry& entry : legend_entries(ui, heatmap, width, gap + marks)) {
        const float y = start.y + static_cast<float>(entry.row) * (line + ui.px(2));
        const Area swatch =
            draw_swatch(ui, {start.x + entry.x, y}, core::hidden_color(entry.causes, ui.theme.dark), entry.text);
        draw_hatch(ui, entry.causes, swatch, ui.px(5));
    }
}

void draw_note_mark(const Ui& ui, Area box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float size = std::clamp(std::min(box.width(), box.height()) * 0.5F, ui.px(3), ui.px(8));
    const ImVec2 corner = box.low;
    list.AddTriangleFilled({corner.x + size + 2, corner.y}, corner, {corner.x, corner.y + size + 2},
                           ui.theme.background);
    list.AddTriangleFilled({corner.x + size, corner.y}, corner, {corner.x, corner.y + size}, ui.theme.warning);
}

namespace {

void draw_values(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, bool numbers) {
    const core::CellRect seen = seen_cells(l, d.heatmap);
    draw_cells(ui, d, l, seen);
    draw_hatches(ui, d, l);
    if (d.grid) draw_grid(ui, l, seen);
    if (numbers) draw_numbers(ui, d, l, seen);
    draw_changes(ui, d, l, seen);
}

// The blocks of a tile, as the cells of a heatmap of its own.
void draw_tile(const Ui& ui, const HeatmapDrawing& d, HeatmapLayout l, const DrawnTile& drawn) {
    if (drawn.heatmap == nullptr) return;
    const core::Tile& tile = drawn.tile;
    l.origin = box_of(l, tile.cells).low;
    l.cell = {l.cell.x * static_cast<float>(tile.columns_each), l.cell.y * static_cast<float>(tile.rows_each)};
    draw_values(ui,
                {.heatmap = *drawn.heatmap,
                 .key = d.key,
                 .version = drawn.version,
                 .changed = drawn.changed,
                 .legend = d.legend},
                l, tile.is_exact());
}

}  // namespace

void draw_inside(const Ui& ui, const HeatmapDrawing& d, const HeatmapLayout& l, std::optional<Spot> hovered,
                 const DrawnTile& tile) {
    const core::CellRect seen = seen_cells(l, d.heatmap);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect({l.cells.low.x - 2, l.cells.low.y - 2}, {l.cells.high.x + 2, l.cells.high.y + 2}, true);
    if (d.tile)
        draw_tile(ui, d, l, tile);
    else
        draw_values(ui, d, l, true);
    draw_notes(ui, d, l, seen);
    draw_colored(ui, d, l, seen);
    if (d.stale) list.AddRectFilled(l.cells.low, l.cells.high, with_alpha(ui.theme.background, 0.45F));
    draw_pointer(ui, d, l, hovered);
    list.PopClipRect();
}

HeatmapGesture draw_heatmap(const Ui& ui, const HeatmapDrawing& d, Viewport& view, Area area) {
    const HeatmapLayout l = lay_out(ui, d, view, area);
    HeatmapGesture gesture = use_mouse(d, l, view);
    const core::CellRect seen = seen_cells(l, d.heatmap);
    if (FrameDocument* document = document_in_use()) {
        // The document that it was pressed in may be of the picture before.
        if (const auto cell = document->takes_cell(d.key); cell && cell->first >= 0 && cell->first < d.heatmap.rows &&
                                                           cell->second >= 0 && cell->second < d.heatmap.columns)
            gesture.clicked = cell;
    }
    const DrawnTile tile = d.tile ? d.tile(seen) : DrawnTile();
    if (FrameDocument* document = noting_document()) document->note_table(table_of(d, seen, tile), area);
    const Unsaid drawn;
    draw_title(ui, d, area, tile.note);
    const PointedOut pointed = {gesture.hovered, d.selected};
    draw_position_numbers(ui, d, l, seen, area);
    draw_column_labels(ui, d, l, seen, area, pointed);
    draw_row_labels(ui, d, l, seen, area, pointed);
    draw_inside(ui, d, l, gesture.hovered, tile);
    draw_position(ui, l, d.heatmap);
    if (d.ringed) {
        const Area cell = box_of(l, {d.ringed->first, d.ringed->second, 1, 1});
        const float away = ui.px(3);
        compat::add_rect(*ImGui::GetWindowDrawList(), {cell.low.x - away, cell.low.y - away},
                         {cell.high.x + away, cell.high.y + away}, ui.theme.accent, ui.px(4), ui.px(3));
    }
    if (const core::Heatmap* const h = d.tile ? tile.heatmap : &d.heatmap)
        draw_legend(ui, *h, d.legend, {l.cells.low.x, l.legend_y}, area.high.x - l.cells.low.x);
    gesture.cells = l.cells;
    if (gesture.hovered) gesture.cell = box_of(l, {gesture.hovered->first, gesture.hovered->second, 1, 1});
    return gesture;
}

void place_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, int lines, const Area& apart) {
    const float line = compat::font_size(ui.fonts.mono_small) + ImGui::GetStyle().ItemSpacing.y;
    const float height = ImGui::GetStyle().WindowPadding.y * 2.0F + line * static_cast<float>(lines);
    ImGui::SetNextWindowPos(place_of(ui, gesture.cell, {ui.px(260), height}, apart));
}

void draw_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, std::span<const TooltipLine> lines) {
    if (lines.empty()) return;
    ImGui::SetNextWindowPos(place_of(ui, gesture.cell, size_of(lines), {}));
    if (!compat::begin_tooltip()) return;
    for (const TooltipLine& line : lines) text_line({line.font, line.color}, line.text);
    ImGui::EndTooltip();
}

}  // namespace decoderscope::views
