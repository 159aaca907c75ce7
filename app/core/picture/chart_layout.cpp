#include "app/core/picture/chart_layout.h"

#include "app/core/text/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace decoderscope {

ChartAxis axis_of_curves(std::span<const DepthCurve* const> curves, bool may_be_logarithmic) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const DepthCurve* curve : curves) {
        for (const DepthPoint& point : curve->points) {
            if (!std::isfinite(point.value)) continue;
            least = std::min(least, point.value);
            most = std::max(most, point.value);
        }
    }
    return least <= most ? chart_axis(least, most, may_be_logarithmic) : chart_axis(0.0, 1.0, false);
}

std::string tick_text(double tick) { return short_number_text(tick, 3); }

double ChartPlot::y(double value) const { return box.bottom() - std::clamp(axis.place(value), 0.0, 1.0) * box.height; }

std::vector<ChartLabel> ChartPlot::ticks() const {
    std::vector<ChartLabel> labels;
    for (const double tick : axis.ticks)
        labels.push_back({box.bottom() - axis.place(tick) * box.height, tick_text(tick)});
    return labels;
}

std::vector<ChartLabel> ChartPlot::block_numbers(double room) const {
    Index every = 1;
    for (const Index candidate : {1, 2, 3, 6, 12, 24, 48, 96, 192}) {
        every = candidate;
        if (box.width / static_cast<double>(blocks) * static_cast<double>(candidate) >= room) break;
    }
    std::vector<ChartLabel> labels;
    for (Index block = 0; block <= blocks; block += every)
        labels.push_back({x(static_cast<double>(block)), std::to_string(block)});
    return labels;
}

ChartStroke ChartPlot::stroke(const DepthCurve& curve, double least_step, double dot_room) const {
    ChartStroke stroke;
    std::vector<ChartSpot> piece;
    const auto end_piece = [&] {
        if (piece.size() > 1) stroke.pieces.push_back(std::move(piece));
        piece.clear();
    };
    for (const DepthPoint& point : curve.points) {
        if (!std::isfinite(point.value)) {
            end_piece();
            continue;
        }
        const ChartSpot at = {x(point.depth), y(point.value)};
        // A block's output is the next block's input: the same point twice would leave a burr on the line.
        if (!piece.empty() && std::abs(piece.back().x - at.x) + std::abs(piece.back().y - at.y) < least_step) continue;
        piece.push_back(at);
        stroke.dots.push_back(at);
    }
    end_piece();
    if (static_cast<double>(stroke.dots.size()) * dot_room > box.width) stroke.dots.clear();
    return stroke;
}

}  // namespace decoderscope
