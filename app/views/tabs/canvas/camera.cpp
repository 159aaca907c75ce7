#include "app/views/tabs/canvas/camera.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::canvas {

namespace {

Point middle_of(Area area) {
    return {(static_cast<double>(area.low.x) + static_cast<double>(area.high.x)) * 0.5,
            (static_cast<double>(area.low.y) + static_cast<double>(area.high.y)) * 0.5};
}

}  // namespace

ImVec2 Camera::on_screen(Area area, Point at) const {
    const Point origin = middle_of(area);
    return {static_cast<float>(origin.x + (at.x - middle.x) * scale),
            static_cast<float>(origin.y + (at.y - middle.y) * scale)};
}

Area Camera::on_screen(Area area, const Box& box) const {
    return {on_screen(area, Point{box.x, box.y}), on_screen(area, Point{box.right(), box.bottom()})};
}

Point Camera::under(Area area, ImVec2 screen) const {
    const Point origin = middle_of(area);
    return {middle.x + (static_cast<double>(screen.x) - origin.x) / scale,
            middle.y + (static_cast<double>(screen.y) - origin.y) / scale};
}

void Camera::zoom_at(Area area, ImVec2 screen, double factor) {
    const Point fixed = under(area, screen);
    scale *= factor;
    middle = {fixed.x - (fixed.x - middle.x) / factor, fixed.y - (fixed.y - middle.y) / factor};
}

void Camera::pan(ImVec2 pixels) {
    middle.x -= static_cast<double>(pixels.x) / scale;
    middle.y -= static_cast<double>(pixels.y) / scale;
}

Camera fitted(Area area, const Box& box, float around) {
    const double width = static_cast<double>(std::max(area.width() - 2.0F * around, 1.0F)),
                 height = static_cast<double>(std::max(area.height() - 2.0F * around, 1.0F));
    return {{box.x + box.width * 0.5, box.y + box.height * 0.5},
            std::min(width / std::max(box.width, 1e-6), height / std::max(box.height, 1e-6))};
}

Camera between(const Camera& from, const Camera& to, double part) {
    const double scale = from.scale * std::pow(to.scale / from.scale, part);
    // What is in the middle moves as a point does that is zoomed at.
    const double whole = 1.0 / from.scale - 1.0 / to.scale;
    const double along =
        std::abs(whole) * std::min(from.scale, to.scale) < 1e-3 ? part : (1.0 / from.scale - 1.0 / scale) / whole;
    return {
        {from.middle.x + (to.middle.x - from.middle.x) * along, from.middle.y + (to.middle.y - from.middle.y) * along},
        scale};
}

}  // namespace decoderscope::views::canvas
