#include "app/core/figure/chart.h"

#include "app/core/text/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace decoderscope::core {

namespace {

// The smallest of 1, 2, 5 × 10^k that is not below `value` (> 0), within rounding.
double round_up(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (digit * decade >= value * (1.0 - 1e-9)) return digit * decade;
    return 10.0 * decade;
}

// The largest of them that is not above `value`.
double round_down(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double digit : {5.0, 2.0, 1.0})
        if (digit * decade <= value * (1.0 + 1e-9)) return digit * decade;
    return decade;
}

ChartAxis even_axis(double least, double most) {
    least = std::min(least, 0.0);
    most = std::max(most, 0.0);
    if (most == least) most = least + 1.0;
    const double step = round_up((most - least) / 3.0);
    ChartAxis axis{step * std::floor(least / step + 1e-9), step * std::ceil(most / step - 1e-9), false, {}};
    const auto count = std::lround((axis.high - axis.low) / step);
    for (long i = 0; i <= count; ++i) axis.ticks.push_back(axis.low + static_cast<double>(i) * step);
    return axis;
}

ChartAxis logarithmic_axis(double least, double most) {
    ChartAxis axis{round_down(least), round_up(most), true, {}};
    const bool by_decades = axis.high / axis.low > 50.0;
    for (double tick = axis.low; tick <= axis.high * (1.0 + 1e-9); tick = round_up(tick * 1.5)) {
        const double digit = tick / std::pow(10.0, std::floor(std::log10(tick) + 1e-9));
        if (!by_decades || std::abs(digit - 1.0) < 1e-6) axis.ticks.push_back(tick);
    }
    while (axis.ticks.size() > 4) {
        std::vector<double> fewer;
        for (std::size_t i = 0; i < axis.ticks.size(); i += 2) fewer.push_back(axis.ticks[i]);
        axis.ticks = fewer;
    }
    return axis;
}

}  // namespace

double ChartAxis::place(double value) const {
    if (!logarithmic) return (value - low) / (high - low);
    return std::log(std::max(value, 1e-300) / low) / std::log(high / low);
}

ChartAxis chart_axis(double least, double most, bool may_be_logarithmic) {
    const bool wide = least > 0.0 && most / least >= 8.0;
    return may_be_logarithmic && wide ? logarithmic_axis(least, most) : even_axis(least, most);
}

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

std::string ChartPlot::label(Index place) const {
    const auto at = static_cast<std::size_t>(place);
    return at < names.size() ? names[at] : std::to_string(place);
}

std::string ChartPlot::longest_label() const {
    const auto longest = std::ranges::max_element(names, {}, &std::string::size);
    return longest != names.end() ? *longest : std::to_string(blocks);
}

std::vector<ChartLabel> ChartPlot::labels(double room) const {
    Index every = 1;  // 1, 2, 3, 6, 12, 24, …
    while (every < blocks && box.width / static_cast<double>(blocks) * static_cast<double>(every) < room)
        every += every < 3 ? 1 : every;
    std::vector<ChartLabel> labels;
    for (Index place = 0; place <= blocks; place += every)
        labels.push_back({x(static_cast<double>(place)), label(place)});
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

}  // namespace decoderscope::core
