#include "app/core/diff/step_pair.h"
#include "app/core/export/exhibits.h"
#include "app/core/export/figure_canvas.h"
#include "app/core/norms/norm_row.h"
#include "app/core/picture/meaning.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope {
namespace {

constexpr const char* pre_norm = "Pre-Norm";
constexpr const char* post_norm = "Post-Norm";

// Half way and further to grey: the same hue, paler, on light and on dark ground.
Rgba paler(Rgba color, double share) {
    const auto mixed = [share](std::uint8_t c) { return static_cast<std::uint8_t>(c + share * (170.0 - c)); };
    return {mixed(color.r), mixed(color.g), mixed(color.b), 255};
}

Rgba color_of_curve(const DepthCurve& curve, std::size_t number) {
    if (curve.part == Part::residual_stream) return figure::inks(false).text;
    const Rgba color = meaning_color(curve.meaning);
    if (curve.meaning == Meaning::norm)
        return paler(color, 0.3 * static_cast<double>(std::min<std::size_t>(number, 2)));
    return curve.part == Part::cross_attention ? paler(color, 0.5) : color;
}

// The same measure of both runs: solid under Pre-Norm, dashed under Post-Norm.
void add_curves(Chart& chart, std::span<const DepthCurve> pre, std::span<const DepthCurve> post) {
    for (std::size_t i = 0; i < post.size(); ++i)
        chart.curves.push_back({post_norm, post[i], color_of_curve(post[i], i), true});
    for (std::size_t i = 0; i < pre.size(); ++i)
        chart.curves.push_back({pre_norm, pre[i], color_of_curve(pre[i], i), false});
}

// What the heatmaps of both runs are told apart by.
Panel named(const std::string& tensor, const char* which, Heatmap heatmap) {
    heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + std::string(which);
    return panel_of(tensor + "." + which, std::move(heatmap));
}

Heatmap strip_of(const std::string& title, const std::vector<float>& values) {
    Heatmap heatmap{.title = title, .row_axis = "", .column_axis = std::string(axis::d_model)};
    heatmap.rows = 1;
    heatmap.columns = static_cast<Index>(values.size());
    heatmap.row_labels = {""};
    for (Index i = 0; i < heatmap.columns; ++i) heatmap.column_labels.push_back(std::to_string(i));
    heatmap.values = values;
    heatmap.range = range_of(values, Scale::diverging);
    return heatmap;
}

}  // namespace

Exhibit depth_exhibit(const Scenario& own, const DepthCurves& pre, const DepthCurves& post) {
    const Index blocks = std::max(pre.blocks, post.blocks);
    Exhibit exhibit{.title = tr("Norms by depth"),
                    .subtitle = tr("Pre-Norm and Post-Norm on the same weights and input")};
    exhibit.caption = caption_of(own, tr("the residual stream, its updates and its norms by block"), "");
    for (const DepthMeasure& measure : depth_measures()) {
        exhibit.charts.push_back(
            {measure.id, tr(measure.title), tr(measure.caption), blocks, measure.may_be_logarithmic, {}});
        add_curves(exhibit.charts.back(), measure.curves(pre), measure.curves(post));
    }
    return exhibit;
}

std::optional<Exhibit> norms_step_exhibit(const ShownRun& pre, const ShownRun& post, const std::string& step,
                                          Place place) {
    const std::optional<StepPair> pair = step_pair(pre.scenario, *pre.run, post.scenario, *post.run, step, place);
    if (!pair) return std::nullopt;
    Exhibit exhibit{.title = step, .subtitle = tr("Pre-Norm, Post-Norm, and the difference")};
    exhibit.caption = caption_of(pre.scenario, step, pair->a.subtitle) + " · " + pair_sentence(*pair, step);
    exhibit.panels = {named(step, "pre-norm", pair->a), named(step, "post-norm", pair->b),
                      named(step, "difference", pair->difference)};
    exhibit.columns = 3;
    return exhibit;
}

std::optional<Exhibit> norm_row_exhibit(const ShownRun& pre, const ShownRun& post, const std::string& norm, Index batch,
                                        Index pos) {
    const std::string where = "batch " + std::to_string(batch) + ", pos " + std::to_string(pos);
    Exhibit exhibit{.title = norm, .subtitle = tr("{where}: a row before and after the norm", {{"where", where}})};
    exhibit.columns = 1;
    exhibit.caption = caption_of(pre.scenario, norm, where);
    for (const auto& [run, which] : {std::pair{&pre, "pre-norm"}, std::pair{&post, "post-norm"}}) {
        const std::optional<NormRow> row = norm_row(*run->run, norm, batch, pos);
        if (!row) continue;
        exhibit.panels.push_back(named(norm + ".before", which, strip_of(row->before_step, row->before)));
        exhibit.panels.push_back(
            named(norm + ".unit", which, strip_of(row->centred ? "(x − mean) ÷ scale" : "x ÷ scale", row->unit)));
        exhibit.panels.push_back(named(norm + ".normalized", which, strip_of(norm + ".normalized", row->after)));
        exhibit.caption += std::string(" · ") + which + ": " + norm_row_sentence(*row);
    }
    if (exhibit.panels.empty()) return std::nullopt;
    return exhibit;
}

}  // namespace decoderscope
