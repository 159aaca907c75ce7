#include "app/views/frame/matrices_view.h"

#include "app/views/widgets/row_layout.h"

#include <algorithm>

namespace decoderscope::views {

MatricesGesture draw_matrices(const Ui& ui, const Matrices& matrices, ViewState& state, std::span<const Area> areas,
                              std::optional<Spot>& hovered) {
    MatricesGesture made{.pointed = {}, .cells = areas.front(), .clicked = std::nullopt};
    for (std::size_t i = 0; i < matrices.heatmaps.size(); ++i) {
        const core::Heatmap& heatmap = *matrices.heatmaps[i];
        HeatmapDrawing drawing{.heatmap = heatmap,
                               .key = matrices.key + i,
                               .version = matrices.version,
                               .color = matrices.color,
                               .selected = matrices.selected,
                               .stale = matrices.stale,
                               .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
        if (i + 1 == matrices.heatmaps.size()) drawing.changed = matrices.marked;
        if (hovered && hovered->first < heatmap.rows && hovered->second < heatmap.columns)
            drawing.lit = core::CellRect{hovered->first, hovered->second, 1, 1};
        const HeatmapGesture gesture = draw_heatmap(ui, drawing, state.viewports[matrices.key], areas[i]);
        if (gesture.hovered) made.pointed = gesture;
        if (gesture.clicked) made.clicked = gesture.clicked;
        made.cells.high.y = i == 0 ? gesture.cells.high.y : std::max(made.cells.high.y, gesture.cells.high.y);
    }
    hovered = made.pointed.hovered;
    return made;
}

std::vector<Area> areas_of_three(const Ui& ui, const core::Heatmap& heatmap, Area area) {
    const float gap = ui.px(16);
    const bool is_wide = heatmap.columns > 12 && heatmap.columns > 2 * heatmap.rows;
    const Grid grid = {area, is_wide ? 2U : 3U, is_wide ? 2U : 1U, {gap, gap * 0.5F}};
    std::vector<Area> areas = {grid.cell(0), grid.cell(1), grid.cell(2)};
    if (is_wide) areas.back().high.x = area.high.x;
    return areas;
}

}  // namespace decoderscope::views
