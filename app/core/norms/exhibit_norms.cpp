#include "app/core/norms/exhibit_norms.h"
#include "app/core/diff/step_pair.h"
#include "app/core/export/figure_canvas.h"
#include "app/core/norms/norm_row.h"
#include "app/core/picture/meaning.h"
#include "app/core/step/exhibit_step.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope {
namespace {

// Mixed with grey by a share: the same hue, paler, on light and on dark ground.
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

// The same measure of both runs: the first solid, the second dashed.
void add_curves(Chart& chart, std::span<const DepthCurve> left, std::span<const DepthCurve> right,
                const Places& places) {
    const std::string first = tr(place_of_norms(places.left).title), second = tr(place_of_norms(places.right).title);
    for (std::size_t i = 0; i < right.size(); ++i)
        chart.curves.push_back({second, right[i], color_of_curve(right[i], i), true});
    for (std::size_t i = 0; i < left.size(); ++i)
        chart.curves.push_back({first, left[i], color_of_curve(left[i], i), false});
}

const PlaceOfNorms& norms_place_of(const ShownRun& shown) {
    return place_of_norms(shown.scenario.config().placement());
}

// "pre-norm": tells a run's pictures in names of files.
std::string file_name_of(const ShownRun& shown) { return std::string(norms_place_of(shown).word) + "-norm"; }

// Names a heatmap by its run, to tell both runs apart.
Panel named(const std::string& tensor, const std::string& which, Heatmap heatmap) {
    heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + which;
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

Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right, const Places& places) {
    const Index blocks = std::max(left.blocks, right.blocks);
    Exhibit exhibit{
        .title = tr("Norms by depth"),
        .subtitle = tr("{first} and {second} on the same weights and input",
                       {{"first", place_of_norms(places.left).title}, {"second", place_of_norms(places.right).title}})};
    exhibit.caption = caption_of(own, tr("the residual stream, its updates and its norms by block"), "");
    for (const DepthMeasure& measure : depth_measures()) {
        exhibit.charts.push_back(
            {measure.id, tr(measure.title), tr(measure.caption), blocks, measure.may_be_logarithmic, {}});
        add_curves(exhibit.charts.back(), measure.curves(left), measure.curves(right), places);
    }
    return exhibit;
}

std::optional<Exhibit> norms_step_exhibit(const ShownRun& left, const ShownRun& right, const std::string& step,
                                          Place place) {
    const std::optional<StepPair> pair = step_pair(left.scenario, *left.run, right.scenario, *right.run, step, place);
    if (!pair) return std::nullopt;
    Exhibit exhibit{.title = step,
                    .subtitle = tr("{first}, {second}, and the difference",
                                   {{"first", norms_place_of(left).title}, {"second", norms_place_of(right).title}})};
    exhibit.caption = caption_of(left.scenario, step, pair->a.subtitle) + " · " + pair_sentence(*pair, step);
    exhibit.panels = {named(step, file_name_of(left), pair->a), named(step, file_name_of(right), pair->b),
                      named(step, "difference", pair->difference)};
    exhibit.columns = 3;
    return exhibit;
}

std::optional<Exhibit> norm_row_exhibit(const ShownRun& left, const ShownRun& right, const std::string& norm,
                                        Index batch, Index pos) {
    const std::string where = "batch " + std::to_string(batch) + ", pos " + std::to_string(pos);
    Exhibit exhibit{.title = norm, .subtitle = tr("{where}: a row before and after the norm", {{"where", where}})};
    exhibit.columns = 1;
    exhibit.caption = caption_of(left.scenario, norm, where);
    for (const ShownRun* run : {&left, &right}) {
        const std::string which = file_name_of(*run);
        const std::optional<NormRow> row = norm_row(*run->run, norm, batch, pos);
        if (!row) continue;
        exhibit.panels.push_back(named(norm + ".before", which, strip_of(row->before_step, row->before)));
        exhibit.panels.push_back(
            named(norm + ".unit", which, strip_of(row->centred ? "(x − mean) ÷ scale" : "x ÷ scale", row->unit)));
        exhibit.panels.push_back(named(norm + ".normalized", which, strip_of(norm + ".normalized", row->after)));
        exhibit.caption += " · " + which + ": " + norm_row_sentence(*row);
    }
    if (exhibit.panels.empty()) return std::nullopt;
    return exhibit;
}

}  // namespace decoderscope
