#pragma once

#include "app/core/compare/effect_of_edits.h"
#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/tabs/canvas/canvas_layout.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/views/frame/step_colors.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/widgets.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::canvas {

using core::canvas::Box;
using core::canvas::Point;

// Which part of the canvas an area of the screen shows.
struct Camera {
    Point middle;        // what is in the middle of the area, in units
    double scale = 1.0;  // pixels a unit

    [[nodiscard]] Area on_screen(Area area, const Box& box) const;
    [[nodiscard]] ImVec2 on_screen(Area area, Point at) const;
    [[nodiscard]] Point under(Area area, ImVec2 screen) const;
    // Enlarges everything, with what is at this point of the screen staying there.
    void zoom_at(Area area, ImVec2 screen, double factor);
    void pan(ImVec2 pixels);
};

// All of a box, as large as possible with so many pixels around it.
[[nodiscard]] Camera fitted(Area area, const Box& box, float around);
// Part of the way from one to the other, 0 to 1: the picture grows or shrinks evenly, and what it leads to comes
// straight to its place.
[[nodiscard]] Camera between(const Camera& from, const Camera& to, double part);

inline constexpr std::string_view kCanvasTab = "canvas";

[[nodiscard]] Tab canvas_tab();

// What the camera looks at, whatever the size and the form of the window.
struct Look {
    std::string step;     // whose picture is in the middle, or next to it
    Point at;             // of the middle, in parts of that picture
    double across = 1.0;  // how many units are seen from left to right
};

// What a key or a session asks the canvas for, until it is drawn next.
struct CanvasAsked {
    double zoom = 1.0;
    ImVec2 pan = {0, 0};  // in tenths of the area
    bool whole = false;
    std::optional<Look> look;
};

// What the canvas remembers from frame to frame.
struct CanvasTabState {
    bool weights = false;
    bool is_whole = true;  // all is shown, whatever the window's size
    Camera camera;
    Area area{};  // where it was drawn last
    std::optional<Camera> flies_from, flies_to;
    double flown = 0.0;  // of the way, 0 to 1
    CanvasAsked asked;
    std::optional<Look> look;  // as drawn last; nothing: at the whole
    core::Cursor followed;     // the cursor that the camera was last brought to
    StepTextures textures{"canvas"};
    std::weak_ptr<const void> model;  // that the camera looks at
};

// Where a step's picture was drawn last; nothing if it isn't on the canvas. The head is the number of a picture in its
// grid.
[[nodiscard]] std::optional<Area> picture_on_canvas(const core::Session& session, const CanvasTabState& state,
                                                    const std::string& step, Index head = 0);

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
