#pragma once

#include "app/core/compare/effect_of_edits.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/tabs/canvas/tab.h"
#include "app/views/widgets/heatmap_layout.h"

#include <optional>
#include <vector>

namespace decoderscope::views::canvas {

// What the canvas draws in one frame.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    CanvasTabState& tab;
    Area area;
    const core::canvas::Layout& layout;
    const std::vector<core::step::OutlineBlock>& outline;

    [[nodiscard]] const Plan& plan() const { return session.shown().run->plan(); }
    [[nodiscard]] Area on_screen(const Box& box) const { return tab.camera.on_screen(area, box); }
    // A length in units as pixels.
    [[nodiscard]] float pixels(double units) const { return static_cast<float>(units * tab.camera.scale); }
    [[nodiscard]] bool is_seen(Area box) const {
        return box.high.x > area.low.x && box.low.x < area.high.x && box.high.y > area.low.y && box.low.y < area.high.y;
    }
};

// One picture of a step: which, where, and how large its cells are.
struct Tile {
    const core::canvas::Placed& placed;
    const Step& step;
    Index head = 0;  // the number of the picture in its grid
    core::Place place;
    core::Slice slice;
    Index rows = 1, columns = 1;
    Area box;

    [[nodiscard]] ImVec2 cell() const {
        return {box.width() / static_cast<float>(columns), box.height() / static_cast<float>(rows)};
    }
};
[[nodiscard]] Tile tile_of(const Scene& scene, const core::canvas::Placed& placed, Index head);
// The one at a point of the screen.
[[nodiscard]] std::optional<Tile> tile_at(const Scene& scene, ImVec2 point);
// Its numbers, if its cells are large enough for labels. Otherwise, and while they are being read, its colours alone
// are drawn.
[[nodiscard]] core::Value<core::step::ShownHeatmap> seen_closely(const Scene& scene, const Tile& tile);
// Its cell at a point.
[[nodiscard]] Spot spot_in(const Tile& tile, ImVec2 point);

// Where the cells of a picture are that is close: those in sight, beside its labels.
[[nodiscard]] HeatmapLayout layout_of(const Scene& scene, const Tile& tile, const core::Heatmap& heatmap);

// Frames and names of stacks, blocks and parts, and the lines between them.
void draw_frames(const Scene& scene);
// The pictures, each in as much detail as its cells have room for.
void draw_tiles(const Scene& scene, const std::optional<Tile>& pointed);

}  // namespace decoderscope::views::canvas
