#include "app/core/text/numbers.h"
#include "app/views/frame/curves_view.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/depth_chart.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::compare {

namespace {

// What strokes and colours mean, in a line or more: of the two runs, of what is added to the stream, and of the norms,
// which are paler in their order.
std::vector<FlowItem> legend_of(const Ui& ui, const core::norms::ShownDepth& shown, const Scene& scene, float most) {
    std::vector<FlowItem> items;
    const auto add = [&](const std::string& text, ImU32 color, std::optional<bool> dashed) {
        const float sample = ui.px(24),
                    width = std::min(sample + ui.px(6) + compat::text_size(ui.fonts.caption, text).x, most);
        items.push_back({width, ui.px(18), [&ui, text, color, dashed, sample, width] {
                             const ImVec2 at = ImGui::GetCursorScreenPos();
                             const float line = compat::font_size(ui.fonts.caption), middle = at.y + line * 0.5F + 1;
                             if (dashed)
                                 draw_line_sample(ui, {at.x, middle}, sample, color, *dashed);
                             else
                                 ImGui::GetWindowDrawList()->AddRectFilled(
                                     {at.x, middle - ui.px(2)}, {at.x + sample, middle + ui.px(2)}, color, ui.px(1));
                             draw_text(ui, ui.fonts.caption, {at.x + sample + ui.px(6), at.y}, ui.theme.muted, text,
                                       width - sample - ui.px(6));
                             ImGui::Dummy({width, line});
                         }});
    };
    add("A  " + tr(scene.runs.left.name), ui.theme.text, false);
    add("B  " + tr(scene.runs.right.name), ui.theme.text, true);
    for (const core::Chart& chart : shown.charts) {
        if (chart.name != "update") continue;
        for (const core::ChartCurve& curve : chart.curves)
            if (!curve.dashed) add(tr(title_of(curve.curve.part)), color_of(ui, curve), std::nullopt);
    }
    add(tr("norms, paler in their order"), color_of(Meaning::norm), std::nullopt);
    return items;
}

std::size_t columns_in(const Ui& ui, float width) { return width < ui.px(1000) ? 2 : 3; }

void draw_by_depth(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands) {
    const core::Value<core::norms::ShownDepth> shown = shown_by_depth(session, scene);
    draw_flow_on_top(ui, legend_of(ui, *shown, scene, area.width()), area, 0.0F);
    const std::size_t columns = columns_in(ui, area.width());
    const Grid grid = {area, columns, (shown->charts.size() + columns - 1) / columns, {ui.px(20), ui.px(14)}};
    const std::string step = draw_curves_in_grid(ui, shown->charts, grid, tab.marked_depth, session.shown().run->plan(),
                                                 tr("A block with fresh weights, stacked here only"));
    if (!step.empty()) commands.push_back(core::command::GoTo{step});
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

float height_of_both(const Ui& ui, const core::Session& session, const CompareTabState& tab, const Scene& scene,
                     Area room) {
    const float diagrams = tab.against == Against::norms ? height_of_diagrams(ui, session, scene, room.width()) : 0.0F;
    if (tab.shown_view() == View::row)
        return std::max(room.height(), diagrams + ui.px(room.width() < ui.px(620) ? 680.0F : 460.0F));
    // Of the charts, two rows are seen at once.
    const float above = diagrams + ui.px(32), two = std::max(room.height() - above, ui.px(320));
    return above + (columns_in(ui, room.width()) == 2 ? two * 1.5F : two);
}

void draw_both_runs(const Ui& ui, const core::Session& session, ViewState& state, const Scene& scene, Area area,
                    Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (tab.against == Against::norms) draw_diagrams(ui, session, tab, scene, area, commands);
    if (tab.shown_view() == View::row) return draw_norm_row(ui, session, tab, scene, area, commands);
    draw_by_depth(ui, session, tab, scene, area, commands);
}

}  // namespace decoderscope::views::compare
