#include "app/views/frame/curves_view.h"

#include "app/core/text/numbers.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <cmath>

namespace decoderscope::views {

namespace {

// The curves that have a value at a place, as they are drawn: the last one on top.
void say_values(const Ui& ui, const core::Chart& chart, double at, const char* note) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.text, ui.theme.text, chart.title);
    for (auto curve = chart.curves.rbegin(); curve != chart.curves.rend(); ++curve) {
        const core::DepthPoint* point = nearest_point(curve->curve, at);
        if (point == nullptr || std::abs(point->depth - at) > 0.5) continue;
        text_line(ui.fonts.mono_small, ui.theme.text, core::short_number_text(point->value, 4));
        ImGui::SameLine(ui.px(72));
        text_line(ui.fonts.caption, ui.theme.muted, curve->run + "  " + point->step);
    }
    text_line(ui.fonts.caption, ui.theme.muted, note);
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
    if (curve.curve.part == Part::residual_stream) return ui.theme.text;
    return with_alpha(color_of(curve.curve.meaning), *curve.strength);
}

ChartGesture draw_curves(const Ui& ui, const core::Chart& chart, std::optional<double> marked, Area area) {
    DepthChart drawn{.id = chart.name.c_str(),
                     .title = chart.title.c_str(),
                     .caption = chart.caption.c_str(),
                     .lines = {},
                     .blocks = chart.blocks,
                     .may_be_logarithmic = chart.may_be_logarithmic,
                     .names = chart.names,
                     .marks = chart.marks};
    for (const core::ChartCurve& curve : chart.curves)
        drawn.lines.push_back({curve.curve, color_of(ui, curve), curve.dashed});
    return draw_depth_chart(ui, drawn, marked, area);
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
