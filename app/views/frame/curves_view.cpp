#include "app/views/frame/curves_view.h"

#include "app/core/text/numbers.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

ImVec2 spot_of(core::ChartSpot spot) { return {static_cast<float>(spot.x), static_cast<float>(spot.y)}; }

Area area_of(const core::ChartBox& box) {
    return {spot_of({box.x, box.y}), spot_of({box.x + box.width, box.bottom()})};
}

core::ChartPlot lay_out(const Ui& ui, const core::Chart& chart, Area area) {
    const float line = compat::font_size(ui.fonts.mono_small);
    std::vector<const core::DepthCurve*> curves;
    for (const core::ChartCurve& one : chart.curves) curves.push_back(&one.curve);
    core::ChartPlot plot{
        {}, core::axis_of_curves(curves, chart.may_be_logarithmic), std::max<Index>(chart.blocks, 1), chart.names};
    float labels = 0.0F;
    for (const double tick : plot.axis.ticks)
        labels = std::max(labels, compat::text_size(ui.fonts.mono_small, core::tick_text(tick)).x);
    const ImVec2 low = {std::floor(area.low.x + labels + ui.px(6)), std::floor(area.low.y + line * 2 + ui.px(18))};
    const ImVec2 high = {area.high.x - ui.px(6), std::floor(area.high.y - line - ui.px(4))};
    plot.box = {static_cast<double>(low.x), static_cast<double>(low.y), static_cast<double>(high.x - low.x),
                static_cast<double>(high.y - low.y)};
    return plot;
}

// ---- the frame: title, ticks, block numbers

void draw_ticks(const Ui& ui, const core::ChartPlot& plot) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small);
    const Area area = area_of(plot.box);
    for (const core::ChartLabel& tick : plot.ticks()) {
        const float y = std::floor(static_cast<float>(tick.at));
        list.AddLine({area.low.x, y}, {area.high.x, y}, with_alpha(ui.theme.line, 0.8F));
        const float width = compat::text_size(ui.fonts.mono_small, tick.text).x;
        draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {area.low.x - ui.px(5) - width, y - line * 0.5F},
                  tick.text);
    }
}

void draw_blocks(const Ui& ui, const core::ChartPlot& plot) {
    const float widest = compat::text_size(ui.fonts.mono_small, plot.longest_label()).x + ui.px(10);
    const ImVec2 corner = area_of(plot.box).high;
    for (const core::ChartLabel& block : plot.labels(static_cast<double>(widest))) {
        const float width = compat::text_size(ui.fonts.mono_small, block.text).x;
        const float x = std::min(static_cast<float>(block.at) - width * 0.5F, corner.x + ui.px(6) - width);
        draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, corner.y + ui.px(3)}, block.text);
    }
}

void draw_frame(const Ui& ui, const core::Chart& chart, const core::ChartPlot& plot, Area area) {
    draw_text(ui, ui.body(), area.low, chart.title, area.width());
    const std::string caption =
        plot.axis.logarithmic ? tr("{caption}, log", {{"caption", chart.caption}}) : chart.caption;
    const float y = area.low.y + compat::font_size(ui.fonts.text) + ui.px(3);
    draw_text(ui, ui.note(), {area.low.x, y}, caption, area.width());
    draw_ticks(ui, plot);
    draw_blocks(ui, plot);
}

// A triangle that stands on the horizontal axis.
void draw_mark(const Ui& ui, const core::ChartPlot& plot, double depth) {
    const float x = static_cast<float>(plot.x(depth)), y = area_of(plot.box).high.y, size = ui.px(4);
    ImGui::GetWindowDrawList()->AddTriangleFilled({x, y - 1.5F * size}, {x - size, y}, {x + size, y}, ui.theme.warning);
}

// ---- the curves

void draw_dashed(ImDrawList& list, std::span<const ImVec2> points, ImU32 color, float thickness, float dash) {
    float behind = 0.0F;  // position within the dash pattern: drawn up to `dash`, a gap up to 1.7 × `dash`
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

// A single point: filled if the line is solid, hollow if it is dashed.
void draw_dot(const Ui& ui, ImVec2 at, ImU32 color, bool hollow, float radius) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled(at, radius, hollow ? ui.theme.background : color, 16);
    if (hollow) list.AddCircle(at, radius, color, 16, ui.px(1.5F));
}

void draw_curve(const Ui& ui, const core::ChartPlot& plot, const core::ChartCurve& curve) {
    const core::ChartStroke stroke = plot.stroke(curve.curve, 0.5, static_cast<double>(ui.px(14)));
    const ImU32 color = color_of(ui, curve);
    for (const std::vector<core::ChartSpot>& piece : stroke.pieces) {
        std::vector<ImVec2> points;
        for (const core::ChartSpot& spot : piece) points.push_back(spot_of(spot));
        draw_stroke(ui, points, color, curve.dashed);
    }
    for (const core::ChartSpot& spot : stroke.dots) draw_dot(ui, spot_of(spot), color, curve.dashed, ui.px(2.5F));
}

// ---- the mouse

// The point of a curve that is nearest to a depth; nullptr if it has none.
const core::DepthPoint* nearest_point(const core::DepthCurve& curve, double depth) {
    const auto away = [&](const core::DepthPoint& point) { return std::abs(point.depth - depth); };
    const auto found = std::ranges::min_element(curve.points, {}, away);
    return found == curve.points.end() ? nullptr : &*found;
}

std::optional<double> nearest_depth(const core::Chart& chart, const core::ChartPlot& plot, double x) {
    std::optional<double> nearest;
    for (const core::ChartCurve& curve : chart.curves)
        for (const core::DepthPoint& point : curve.curve.points)
            if (!nearest || std::abs(plot.x(point.depth) - x) < std::abs(plot.x(*nearest) - x)) nearest = point.depth;
    return nearest;
}

void draw_marked(const Ui& ui, const core::Chart& chart, const core::ChartPlot& plot, double depth) {
    const float x = std::floor(static_cast<float>(plot.x(depth)));
    const Area area = area_of(plot.box);
    ImGui::GetWindowDrawList()->AddLine({x, area.low.y}, {x, area.high.y}, with_alpha(ui.theme.accent, 0.6F));
    for (const core::ChartCurve& curve : chart.curves) {
        const core::DepthPoint* point = nearest_point(curve.curve, depth);
        if (point == nullptr || !std::isfinite(point->value) || std::abs(point->depth - depth) > 0.5) continue;
        draw_dot(ui, spot_of({plot.x(point->depth), plot.y(point->value)}), color_of(ui, curve), curve.dashed,
                 ui.px(4));
    }
}

// ---- several

// The curves that have a value at a place, as they are drawn: the last one on top.
void say_values(const Ui& ui, const core::Chart& chart, double at, const char* note) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.body(), chart.title);
    for (auto curve = chart.curves.rbegin(); curve != chart.curves.rend(); ++curve) {
        const core::DepthPoint* point = nearest_point(curve->curve, at);
        if (point == nullptr || std::abs(point->depth - at) > 0.5) continue;
        text_line(ui.number(), core::short_number_text(point->value, 4));
        ImGui::SameLine(ui.px(72));
        text_line(ui.note(), curve->run + "  " + point->step);
    }
    text_line(ui.note(), note);
    ImGui::EndTooltip();
}

// The topmost step there that the plan has; empty if there is none.
std::string step_at(const core::Chart& chart, double at, const Plan& plan) {
    for (auto curve = chart.curves.rbegin(); curve != chart.curves.rend(); ++curve)
        if (const core::DepthPoint* point = nearest_point(curve->curve, at);
            point != nullptr && plan.find(point->step) != nullptr)
            return point->step;
    return {};
}

}  // namespace

ImU32 color_of(const Ui& ui, const core::ChartCurve& curve) {
    if (!curve.strength) return to_imgui(curve.color);
    if (curve.curve.part == Part::residual_stream) return curve.dashed ? ui.theme.accent : ui.theme.text;
    return with_alpha(color_of(curve.curve.meaning), *curve.strength);
}

void draw_line_sample(const Ui& ui, ImVec2 from, float width, ImU32 color, bool dashed) {
    const ImVec2 points[] = {from, {from.x + width, from.y}};
    draw_stroke(ui, points, color, dashed);
    draw_dot(ui, {from.x + width * 0.5F, from.y}, color, dashed, ui.px(2.5F));
}

ChartGesture draw_curves(const Ui& ui, const core::Chart& chart, std::optional<double> marked, Area area) {
    const core::ChartPlot plot = lay_out(ui, chart, area);
    draw_frame(ui, chart, plot, area);
    for (const core::ChartCurve& curve : chart.curves) draw_curve(ui, plot, curve);
    for (const double depth : chart.marks) draw_mark(ui, plot, depth);
    if (marked) draw_marked(ui, chart, plot, *marked);
    const Area curves = area_of(plot.box);
    ChartGesture gesture;
    gesture.clicked =
        click_at(chart.name.c_str(), {{curves.low.x, area.low.y}, {curves.high.x + ui.px(6), area.high.y}});
    if (ImGui::IsItemHovered())
        gesture.depth = nearest_depth(chart, plot, static_cast<double>(ImGui::GetIO().MousePos.x));
    return gesture;
}

std::string draw_curves_in_grid(const Ui& ui, std::span<const core::Chart> charts, const Grid& grid,
                                std::optional<double>& marked, const Plan& plan, const char* elsewhere) {
    std::optional<double> pointed;
    std::string clicked;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        const ChartGesture gesture = draw_curves(ui, charts[i], marked, grid.cell(i));
        if (!gesture.depth) continue;
        pointed = gesture.depth;
        const std::string step = step_at(charts[i], *gesture.depth, plan);
        say_values(ui, charts[i], *gesture.depth, step.empty() ? elsewhere : tr("Click to go there"));
        if (gesture.clicked) clicked = step;
    }
    marked = pointed;
    return clicked;
}

}  // namespace decoderscope::views
