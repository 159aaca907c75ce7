#pragma once

#include "app/views/frame/view_state.h"
#include "app/views/widgets/heatmap_view.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace decoderscope::views {

// An answer in matrices: heatmaps with the same rows and columns, which show the same cells.
struct Matrices {
    std::span<const core::Heatmap* const> heatmaps;
    std::uint64_t key = 0;      // of the first one's texture and widget; the others have the next ones
    std::uint64_t version = 0;  // changes with the values
    ImU32 color = 0;
    bool stale = false;
    std::optional<Spot> selected = std::nullopt;
    const std::vector<std::uint8_t>* marked = nullptr;  // cells of the last one
};

struct MatricesGesture {
    HeatmapGesture pointed;  // of the one under the mouse
    Area cells;              // around the cells of all
    std::optional<Spot> clicked;
};

// Draws each into its area; all share zoom and position, and the cell that was pointed at is lit in all. `hovered` is
// kept by the caller from frame to frame.
MatricesGesture draw_matrices(const Ui& ui, const Matrices& matrices, ViewState& state, std::span<const Area> areas,
                              std::optional<Spot>& hovered);

// Where pictures of this shape stand: three side by side; where the rows are long, two above one.
[[nodiscard]] std::vector<Area> areas_of_three(const Ui& ui, const core::Heatmap& heatmap, Area area);

}  // namespace decoderscope::views
