#include "app/core/text/numbers.h"
#include "app/views/frame/curves_view.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace decoderscope::views::compare {

namespace {

// What strokes and colours mean: of the sublayers' updates, and of the norms, which are paler in their order.
void draw_legend(const Ui& ui, const core::norms::ShownDepth& shown, const Scene& scene, Area area) {
    CurvesLegend legend{ui, area};
    legend.area.low.y += ui.px(2);
    legend.stroke(false, tr(scene.runs.left.name));
    legend.stroke(true, tr(scene.runs.right.name));
    for (const core::ChartCurve& curve : shown.charts[1].curves)
        if (!curve.dashed) legend.swatch(color_of(ui, curve), tr(title_of(curve.curve.part)));
    std::vector<std::string> names;
    for (const core::norms::DepthCurves* curves : {&shown.curves.left, &shown.curves.right})
        for (const core::DepthCurve& curve : curves->scales)
            if (std::ranges::find(names, curve.name) == names.end()) names.push_back(curve.name);
    std::string norms = names.empty() ? "" : names.front();
    if (names.size() == 2) norms += ", " + names.back();
    if (names.size() > 2) norms = tr("Norms");
    if (names.size() > 1) norms = tr("{norms} (paler)", {{"norms", norms}});
    legend.swatch(color_of(Meaning::norm), norms);
    const bool encoder = scene.stack == StackKind::encoder;
    std::string note = encoder ? tr("From left to right: encoder blocks. Padding is left out.")
                               : tr("From left to right: decoder blocks. Padding is left out.");
    if (encoder && scene.stacked) note += std::string(" ") + tr("Only the decoder is stacked deeper.");
    text_block(ui, ui.fonts.caption, ui.theme.muted, {{area.low.x, legend.area.low.y + ui.px(4)}, area.high}, note);
}

void draw_by_depth(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands) {
    const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
    const Grid grid = {area, 2, 3, {ui.px(20), ui.px(14)}};
    const std::string step = draw_curves_in_grid(ui, shown->charts, grid, tab.marked_depth, session.shown().run->plan(),
                                                 tr("A block with fresh weights, stacked here only"));
    if (!step.empty()) commands.push_back(core::command::GoTo{step});
    draw_legend(ui, *shown, scene, grid.cell(shown->charts.size()));
}

}  // namespace

core::Value<core::norms::ShownDepth> shown_by_depth(const core::Session& session, const Scene& scene) {
    return core::norms::shown_depth(session.derived(), scene.runs, scene.stack);
}

std::string sentence_of(const core::Session& session, const CompareTabState& tab, const Scene& scene) {
    if (tab.shown_view() == View::depth) {
        const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
        return core::norms::depth_sentence(shown->curves.left, shown->curves.right,
                                           {tr(scene.runs.left.name), tr(scene.runs.right.name)});
    }
    const auto rows = shown_rows(session, tab, scene);
    std::string text;
    const auto add = [&](const core::Side& side, const std::optional<core::norms::NormRow>& row) {
        if (row)
            text += (text.empty() ? "" : " ") +
                    tr("{placement} {finding}",
                       {{"placement", side.name}, {"finding", core::norms::norm_row_sentence(*row)}});
    };
    add(scene.runs.left, rows->left);
    add(scene.runs.right, rows->right);
    return text;
}

void draw_both_runs(const Ui& ui, const core::Session& session, ViewState& state, const Scene& scene, Area area,
                    Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    const bool is_narrow = area.width() < ui.px(620), of_norms = tab.against == Against::norms;
    if (is_narrow && of_norms && tab.norms.diagrams) return draw_diagrams(ui, session, tab, scene, area, commands);
    if (!is_narrow && of_norms) {
        const float diagrams = std::min(ui.px(320), area.width() * 0.44F);
        draw_diagrams(ui, session, tab, scene, {area.low, {area.low.x + diagrams, area.high.y}}, commands);
        area.low.x += diagrams + ui.px(20);
    }
    if (tab.shown_view() == View::row) return draw_norm_row(ui, session, tab, scene, area, commands);
    draw_by_depth(ui, session, tab, scene, area, commands);
}

}  // namespace decoderscope::views::compare
