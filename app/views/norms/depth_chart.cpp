#include "app/views/norms/depth_chart.h"

#include "app/core/picture/chart_axis.h"
#include "app/core/text/text.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope {

namespace {

// Where the parts of a chart lie.
struct Plot {
    Area area;  // of the curves
    ChartAxis axis;
    double depth = 1.0;  // the last one

    [[nodiscard]] float x(double at) const { return area.low.x + static_cast<float>(at / depth) * area.width(); }
    [[nodiscard]] float y(double value) const {
        return area.high.y - static_cast<float>(std::clamp(axis.place(value), 0.0, 1.0)) * area.height();
    }
};

ChartAxis axis_of(const DepthChart& chart) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const ChartLine& line : chart.lines) {
        for (const DepthPoint& point : line.curve.points) {
            if (!std::isfinite(point.value)) continue;
            least = std::min(least, point.value);
            most = std::max(most, point.value);
        }
    }
    return least <= most ? chart_axis(least, most, chart.may_be_logarithmic) : chart_axis(0.0, 1.0, false);
}

std::string tick_text(double value) { return short_number_text(value, 3); }

Plot lay_out(const Ui& ui, const DepthChart& chart, Area area) {
    const float line = compat::font_size(ui.fonts.mono_small);
    Plot plot{{}, axis_of(chart), static_cast<double>(std::max<Index>(chart.blocks, 1))};
    float labels = 0.0F;
    for (const double tick : plot.axis.ticks)
        labels = std::max(labels, compat::text_size(ui.fonts.mono_small, tick_text(tick)).x);
    plot.area = {{std::floor(area.low.x + labels + ui.px(6)), std::floor(area.low.y + line * 2 + ui.px(18))},
                 {area.high.x - ui.px(6), std::floor(area.high.y - line - ui.px(4))}};
    return plot;
}

// ---- the frame: title, ticks, block numbers

void draw_ticks(const Ui& ui, const Plot& plot) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small);
    for (const double tick : plot.axis.ticks) {
        const float y = std::floor(plot.y(tick));
        list.AddLine({plot.area.low.x, y}, {plot.area.high.x, y}, with_alpha(ui.theme.line, 0.8F));
        const std::string text = tick_text(tick);
        const float width = compat::text_size(ui.fonts.mono_small, text).x;
        draw_text(ui, ui.fonts.mono_small, {plot.area.low.x - ui.px(5) - width, y - line * 0.5F}, ui.theme.muted, text);
    }
}

// The numbers of the blocks below, thinned as they crowd.
void draw_blocks(const Ui& ui, const Plot& plot, Index blocks) {
    const float widest = compat::text_size(ui.fonts.mono_small, std::to_string(blocks)).x + ui.px(10);
    const float one = plot.area.width() / static_cast<float>(blocks);
    Index every = 1;
    for (const Index candidate : {1, 2, 3, 6, 12, 24, 48, 96})
        if (every = candidate; one * static_cast<float>(candidate) >= widest) break;
    for (Index block = 0; block <= blocks; block += every) {
        const std::string text = std::to_string(block);
        const float width = compat::text_size(ui.fonts.mono_small, text).x;
        const float x =
            std::min(plot.x(static_cast<double>(block)) - width * 0.5F, plot.area.high.x + ui.px(6) - width);
        draw_text(ui, ui.fonts.mono_small, {x, plot.area.high.y + ui.px(3)}, ui.theme.muted, text);
    }
}

void draw_frame(const Ui& ui, const DepthChart& chart, const Plot& plot, Area area) {
    draw_text(ui, ui.fonts.text, area.low, ui.theme.text, chart.title, area.width());
    const std::string caption = std::string(chart.caption) + (plot.axis.logarithmic ? ", log" : "");
    const float y = area.low.y + compat::font_size(ui.fonts.text) + ui.px(3);
    draw_text(ui, ui.fonts.caption, {area.low.x, y}, ui.theme.muted, caption, area.width());
    draw_ticks(ui, plot);
    draw_blocks(ui, plot, std::max<Index>(chart.blocks, 1));
}

// ---- the curves

void draw_dashed(ImDrawList& list, std::span<const ImVec2> points, ImU32 color, float thickness, float dash) {
    float behind = 0.0F;  // how far along the pattern we are: drawn up to `dash`, left out up to 1.7 of it
    const float period = dash * 1.7F;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const ImVec2 from = points[i - 1], way = {points[i].x - from.x, points[i].y - from.y};
        const float length = std::sqrt(way.x * way.x + way.y * way.y);
        for (float at = 0.0F; at < length;) {
            const bool drawn = behind < dash;
            const float to = std::min(length, at + (drawn ? dash : period) - behind);
            const auto spot = [&](float t) { return ImVec2(from.x + way.x * t / length, from.y + way.y * t / length); };
            if (drawn) list.AddLine(spot(at), spot(to), color, thickness);
            behind += to - at;
            if (behind >= period - 1e-3F) behind = 0.0F;
            at = std::max(to, at + 1e-3F);
        }
    }
}

void draw_stroke(const Ui& ui, std::span<const ImVec2> points, ImU32 color, bool dashed) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (dashed)
        draw_dashed(list, points, color, ui.px(1.5F), ui.px(5));
    else
        compat::add_polyline(list, points, color, ui.px(1.75F));
}

// A point of its own: filled where the line is solid, hollow where it is dashed.
void draw_dot(const Ui& ui, ImVec2 at, ImU32 color, bool hollow, float radius) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled(at, radius, hollow ? ui.theme.background : color, 16);
    if (hollow) list.AddCircle(at, radius, color, 16, ui.px(1.5F));
}

// A curve in as many pieces as it has gaps: a number that isn't finite is none.
void draw_curve(const Ui& ui, const Plot& plot, const ChartLine& line) {
    std::vector<ImVec2> piece;
    std::vector<ImVec2> all;
    for (const DepthPoint& point : line.curve.points) {
        if (!std::isfinite(point.value)) {
            draw_stroke(ui, piece, line.color, line.dashed);
            piece.clear();
            continue;
        }
        const ImVec2 at = {plot.x(point.depth), plot.y(point.value)};
        // What leaves a block enters the next: the same point twice would leave a burr on the line.
        if (!piece.empty() && std::abs(piece.back().x - at.x) + std::abs(piece.back().y - at.y) < 0.5F) continue;
        piece.push_back(at);
        all.push_back(at);
    }
    draw_stroke(ui, piece, line.color, line.dashed);
    const float room = all.empty() ? 0.0F : plot.area.width() / static_cast<float>(all.size());
    if (room < ui.px(14)) return;
    for (const ImVec2 at : all) draw_dot(ui, at, line.color, line.dashed, ui.px(2.5F));
}

// ---- the mouse

std::optional<double> nearest_depth(const DepthChart& chart, const Plot& plot, float x) {
    std::optional<double> nearest;
    for (const ChartLine& line : chart.lines)
        for (const DepthPoint& point : line.curve.points)
            if (!nearest || std::abs(plot.x(point.depth) - x) < std::abs(plot.x(*nearest) - x)) nearest = point.depth;
    return nearest;
}

void draw_marked(const Ui& ui, const DepthChart& chart, const Plot& plot, double depth) {
    const float x = std::floor(plot.x(depth));
    ImGui::GetWindowDrawList()->AddLine({x, plot.area.low.y}, {x, plot.area.high.y}, with_alpha(ui.theme.accent, 0.6F));
    for (const ChartLine& line : chart.lines) {
        const DepthPoint* point = nearest_point(line.curve, depth);
        if (point == nullptr || !std::isfinite(point->value) || std::abs(point->depth - depth) > 0.5) continue;
        draw_dot(ui, {plot.x(point->depth), plot.y(point->value)}, line.color, line.dashed, ui.px(4));
    }
}

}  // namespace

const DepthPoint* nearest_point(const DepthCurve& curve, double depth) {
    const auto nearer = [&](const DepthPoint& a, const DepthPoint& b) {
        return std::abs(a.depth - depth) < std::abs(b.depth - depth);
    };
    const auto found = std::min_element(curve.points.begin(), curve.points.end(), nearer);
    return found == curve.points.end() ? nullptr : &*found;
}

void draw_line_sample(const Ui& ui, ImVec2 from, float width, ImU32 color, bool dashed) {
    const ImVec2 points[] = {from, {from.x + width, from.y}};
    draw_stroke(ui, points, color, dashed);
    draw_dot(ui, {from.x + width * 0.5F, from.y}, color, dashed, ui.px(2.5F));
}

ChartGesture draw_depth_chart(const Ui& ui, const DepthChart& chart, std::optional<double> marked, Area area) {
    const Plot plot = lay_out(ui, chart, area);
    draw_frame(ui, chart, plot, area);
    for (const ChartLine& line : chart.lines) draw_curve(ui, plot, line);
    if (marked) draw_marked(ui, chart, plot, *marked);
    ImGui::SetCursorScreenPos({plot.area.low.x, area.low.y});
    ChartGesture gesture;
    gesture.clicked =
        ImGui::InvisibleButton(chart.id, {std::max(plot.area.width() + ui.px(6), 1.0F), std::max(area.height(), 1.0F)});
    if (ImGui::IsItemHovered()) gesture.depth = nearest_depth(chart, plot, ImGui::GetIO().MousePos.x);
    return gesture;
}

}  // namespace decoderscope
