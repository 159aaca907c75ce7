#include "app/core/text/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/norms/depth_chart.h"
#include "app/views/norms/norms_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope {

namespace {

// The norms' colours, from strong to pale in their order.
ImU32 scale_color(std::size_t number) {
    static constexpr std::array<float, 3> strength = {1.0F, 0.65F, 0.4F};
    return with_alpha(color_of(Meaning::norm), strength[std::min<std::size_t>(number, 2)]);
}

// Of a measure's curve by its number. Cross-attention is paler than self-attention.
ImU32 curve_color(const Ui& ui, const DepthCurve& curve, std::size_t number) {
    if (curve.part == Part::residual_stream) return ui.theme.text;
    if (curve.part == Part::norm) return scale_color(number);
    const ImU32 color = color_of(curve.meaning);
    return curve.part == Part::cross_attention ? with_alpha(color, ui.theme.dark ? 0.5F : 0.55F) : color;
}

// All curves of one measure in one of the runs.
void add_lines(const Ui& ui, DepthChart& chart, std::span<const DepthCurve> curves, bool dashed) {
    for (std::size_t i = 0; i < curves.size(); ++i)
        chart.lines.push_back({curves[i], curve_color(ui, curves[i], i), dashed});
}

std::vector<DepthChart> charts_of(const Ui& ui, const BothNorms<DepthCurves>& both) {
    const Index blocks = std::max(both.left.blocks, both.right.blocks);
    std::vector<DepthChart> charts;
    for (const DepthMeasure& measure : depth_measures()) {
        DepthChart& chart = charts.emplace_back(
            DepthChart{measure.id, tr(measure.title), tr(measure.caption), {}, blocks, measure.may_be_logarithmic});
        add_lines(ui, chart, measure.curves(both.right), true);
        add_lines(ui, chart, measure.curves(both.left), false);
    }
    return charts;
}

// The step under the mouse; nullptr if the model shown in the window doesn't have it, as in blocks that are only
// stacked here.
const DepthPoint* reachable_point(const Session& session, const DepthChart& chart, double depth) {
    for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
        const DepthPoint* point = nearest_point(line->curve, depth);
        if (point != nullptr && session.shown().run->plan().find(point->step) != nullptr) return point;
    }
    return nullptr;
}

// The curves' values at the depth under the mouse.
void chart_tooltip(const Ui& ui, const DepthChart& chart, const Places& places, double depth, bool reachable) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.text, ui.theme.text, chart.title);
    for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
        const DepthPoint* point = nearest_point(line->curve, depth);
        if (point == nullptr || std::abs(point->depth - depth) > 0.5) continue;
        text_line(ui.fonts.mono_small, ui.theme.text, short_number_text(point->value, 4));
        ImGui::SameLine(ui.px(72));
        text_line(
            ui.fonts.caption, ui.theme.muted,
            std::string(tr(place_of_norms(line->dashed ? places.right : places.left).title)) + "  " + point->step);
    }
    text_line(ui.fonts.caption, ui.theme.muted,
              reachable ? tr("Click to go there") : tr("A block with fresh weights, stacked here only"));
    ImGui::EndTooltip();
}

// ---- the legend of strokes and colours

struct StrokeLegend {
    const Ui& ui;
    Area area;
    float y;

    void sample(ImU32 color, bool dashed, const std::string& text) {
        const float line = compat::font_size(ui.fonts.caption);
        draw_line_sample(ui, {area.low.x, y + line * 0.5F + 1}, ui.px(30), color, dashed);
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(38), y}, ui.theme.text, text, area.width() - ui.px(38));
        y += line + ui.px(4);
    }
    void swatch(ImU32 color, const std::string& text) {
        const float line = compat::font_size(ui.fonts.caption), middle = y + line * 0.5F + 1;
        ImGui::GetWindowDrawList()->AddRectFilled({area.low.x, middle - ui.px(2)},
                                                  {area.low.x + ui.px(30), middle + ui.px(2)}, color, ui.px(1));
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(38), y}, ui.theme.muted, text, area.width() - ui.px(38));
        y += line + ui.px(4);
    }
};

void draw_legend(const Ui& ui, const BothNorms<DepthCurves>& both, const NormsScene& scene, Area area) {
    StrokeLegend legend{ui, area, area.low.y + ui.px(2)};
    legend.sample(ui.theme.text, false, tr(norms_place_of(scene.runs.left).title));
    legend.sample(ui.theme.text, true, tr(norms_place_of(scene.runs.right).title));
    for (const DepthCurve& curve : both.left.updates)
        legend.swatch(curve_color(ui, curve, 0), tr(title_of(curve.part)));
    std::vector<std::string> names;
    for (const DepthCurves* curves : {&both.left, &both.right})
        for (const DepthCurve& curve : curves->scales)
            if (std::ranges::find(names, curve.name) == names.end()) names.push_back(curve.name);
    std::string norms = names.empty() ? "" : names.front();
    if (names.size() == 2) norms += ", " + names.back();
    if (names.size() > 2) norms = tr("Norms");
    if (names.size() > 1) norms = tr("{norms} (paler)", {{"norms", norms}});
    legend.swatch(scale_color(0), norms);
    const bool encoder = !scene.prefix.empty();
    std::string note = encoder ? tr("From left to right: encoder blocks. Padding is left out.")
                               : tr("From left to right: decoder blocks. Padding is left out.");
    if (encoder && scene.runs.left.variation.layers)
        note += std::string(" ") + tr("Only the decoder is stacked deeper.");
    text_block(ui, ui.fonts.caption, ui.theme.muted, {{area.low.x, legend.y + ui.px(4)}, area.high}, note);
}

}  // namespace

void draw_norms_by_depth(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                         Commands& commands) {
    const Value<BothNorms<DepthCurves>> curves = shown_curves(session, scene);
    const BothNorms<DepthCurves>& both = *curves;
    const std::vector<DepthChart> charts = charts_of(ui, both);
    const ImVec2 gap = {ui.px(20), ui.px(14)};
    const float width = std::floor((area.width() - gap.x) * 0.5F),
                height = std::floor((area.height() - gap.y * 2) / 3.0F);
    const auto cell = [&](std::size_t number) {
        const ImVec2 low = {area.low.x + static_cast<float>(number % 2) * (width + gap.x),
                            area.low.y + static_cast<float>(number / 2) * (height + gap.y)};
        return Area{low, {low.x + width, low.y + height}};
    };
    std::optional<double> pointed;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        const ChartGesture gesture = draw_depth_chart(ui, charts[i], state.lab<NormsTabState>().marked_depth, cell(i));
        if (!gesture.depth) continue;
        pointed = gesture.depth;
        const DepthPoint* reachable = reachable_point(session, charts[i], *gesture.depth);
        chart_tooltip(ui, charts[i], scene.places(), *gesture.depth, reachable != nullptr);
        if (gesture.clicked && reachable != nullptr) commands.push_back(command::GoTo{reachable->step});
    }
    state.lab<NormsTabState>().marked_depth = pointed;
    draw_legend(ui, both, scene, cell(charts.size()));
}

}  // namespace decoderscope
