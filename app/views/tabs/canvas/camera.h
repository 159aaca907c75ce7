#pragma once

#include "app/core/tabs/canvas/canvas_layout.h"
#include "app/views/widgets/widgets.h"

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

}  // namespace decoderscope::views::canvas
