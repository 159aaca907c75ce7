#include "app/views/widgets/heatmap_layout.h"

#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

float label_width(const Ui& ui, const std::vector<std::string>& labels, float most) {
    // The widest label decides, up to `most`.
    float width = 0.0F;
    for (const std::string& label : labels) {
        if (width >= most) return most;
        width = std::max(width, compat::text_size(ui.fonts.mono_small, label).x);
    }
    return std::min(width, most);
}

// The space around the cells.
struct Margins {
    float left = 0.0F, title = 0.0F, top = 0.0F, bottom = 0.0F;
};

Margins margins(const Ui& ui, const Heatmap& h, float width, Legend legend, bool labels_rows = true) {
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(2);
    const float title = line + ui.px(6);
    const float left = labels_rows ? label_width(ui, h.row_labels, width * 0.25F) + ui.px(8) : ui.px(2);
    const auto rows = static_cast<float>(legend_rows(ui, h, legend, width - left));
    return {left, title, title + line + ui.px(2), rows > 0.0F ? line * rows + ui.px(6) : ui.px(2)};
}

bool few(Index count) { return count <= kFew; }

// The least height of a row: one that can be hit, and read; of wide matrices, which are looked at as a whole, one that
// has room for its label, if all of them don't get too high.
float least_row(const Ui& ui, Index rows, Index columns) {
    if (few(columns)) return few(rows) ? ui.px(kHittableHeight) : ui.px(120) / static_cast<float>(rows);
    return std::min(ui.px(kLabelledHeight), ui.px(140) / static_cast<float>(rows));
}

// Of cells that must stay large enough to hit.
ImVec2 hittable_cell(const Ui& ui, const Heatmap& h, ImVec2 fit) {
    if (few(h.columns)) fit.x = std::max(fit.x, ui.px(kHittable));
    if (few(h.rows)) fit.y = std::max(fit.y, least_row(ui, h.rows, h.columns));
    return fit;
}

}  // namespace

HeatmapNeeds needs_of(const Ui& ui, const Heatmap& heatmap, float width, Legend legend) {
    const Margins around = margins(ui, heatmap, width, legend);
    return {heatmap.rows, heatmap.columns, {around.left, around.top + around.bottom}};
}

ImVec2 fitted_cell(const Ui& ui, Index rows, Index columns, ImVec2 room) {
    const ImVec2 fit = {room.x / static_cast<float>(columns), room.y / static_cast<float>(rows)};
    const float square = std::min(fit.x, fit.y), most = ui.px(96);
    return {std::min({fit.x, std::max(square, number_width(ui, 4)), most}),
            std::min({fit.y, std::max(square, ui.px(20)), most})};
}

HeatmapSizes sizes_of(const Ui& ui, const HeatmapNeeds& needs) {
    // A side of many cells needs only be seen as a whole.
    const float least_height = least_row(ui, needs.rows, needs.columns) * static_cast<float>(needs.rows);
    const auto side = [&](Index count, float each, float many) {
        const float all = static_cast<float>(count) * each;
        return few(count) ? all : std::min(all, ui.px(many));
    };
    const auto with_around = [&](float width, float height) {
        return ImVec2{needs.around.x + width, needs.around.y + height};
    };
    return {with_around(side(needs.columns, ui.px(kHittable), 150), least_height),
            with_around(side(needs.columns, number_width(ui, 4), 640), side(needs.rows, ui.px(24), 320)),
            with_around(ui.px(96) * static_cast<float>(needs.columns), ui.px(96) * static_cast<float>(needs.rows))};
}

HeatmapLayout lay_out(const Ui& ui, const HeatmapDrawing& d, Viewport& view, Area area) {
    const Heatmap& h = d.heatmap;
    const Margins around = margins(ui, h, area.width(), d.legend, d.labels_rows);
    HeatmapLayout l;
    l.column_labels_y = area.low.y + around.title;
    l.cells.low = {std::floor(area.low.x + around.left), std::floor(area.low.y + around.top)};
    const float width = std::max(area.high.x - l.cells.low.x, 1.0F);
    const float height = std::max(area.high.y - around.bottom - l.cells.low.y, 1.0F);
    const ImVec2 fit = fitted_cell(ui, h.rows, h.columns, {width, height});
    const ImVec2 base = d.keeps_hittable ? hittable_cell(ui, h, fit) : fit;
    l.least_zoom = std::min({1.0F, fit.x / base.x, fit.y / base.y});
    view.zoom = std::max(view.zoom, l.least_zoom);
    l.cell = {base.x * view.zoom, base.y * view.zoom};
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

Area box_of(const HeatmapLayout& l, const CellRect& cells) {
    return {{l.origin.x + static_cast<float>(cells.column) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row) * l.cell.y},
            {l.origin.x + static_cast<float>(cells.column + cells.columns) * l.cell.x,
             l.origin.y + static_cast<float>(cells.row + cells.rows) * l.cell.y}};
}

CellRect seen_cells(const HeatmapLayout& l, const Heatmap& h) {
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

std::optional<Spot> spot_at(const HeatmapLayout& l, const Heatmap& h, ImVec2 point) {
    if (!l.cells.contains(point)) return std::nullopt;
    return Spot{std::clamp<Index>(static_cast<Index>((point.y - l.origin.y) / l.cell.y), 0, h.rows - 1),
                std::clamp<Index>(static_cast<Index>((point.x - l.origin.x) / l.cell.x), 0, h.columns - 1)};
}

float number_width(const Ui& ui, int characters) {
    const std::string text(static_cast<std::size_t>(characters), '0');
    return compat::text_size(ui.fonts.mono_small, text).x + ui.px(3);
}

float fitted_height(const Ui& ui, const HeatmapNeeds& needs, float width, float most) {
    const ImVec2 room = {std::max(width - needs.around.x, 1.0F), std::max(most - needs.around.y, 1.0F)};
    const ImVec2 cell = fitted_cell(ui, needs.rows, needs.columns, room);
    return std::min(most, needs.around.y + cell.y * static_cast<float>(needs.rows));
}

float fitted_height(const Ui& ui, const Heatmap& heatmap, float width, float most) {
    return fitted_height(ui, needs_of(ui, heatmap, width), width, most);
}

}  // namespace decoderscope
