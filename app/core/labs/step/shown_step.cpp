#include "app/core/labs/step/shown_step.h"

#include "app/core/run/step_picture.h"

#include <cstring>

namespace decoderscope::core::step {

namespace {

// Bit for bit, so that a NaN that stays a NaN is not a change.
bool unchanged(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<std::uint8_t> changes(const Snapshot& shown, const Step& step, const Heatmap& heatmap, Place place) {
    const Ref before = shown.unedited->plan().find(step.name);
    if (&shown.run_of(step) == shown.unedited.get() || before == nullptr || before->axes != step.axes) return {};
    const Tensor& old_values = shown.unedited->value(before->id);
    const Run& run = shown.run_of(step);
    const Ref sink = sink_beside(run, step);
    const bool same_sink = sink == nullptr || shown.unedited->value(sink->name).shares_values_with(run.value(sink->id));
    if (old_values.empty() || (same_sink && old_values.shares_values_with(run.value(step.id)))) return {};
    const Slice slice = slice_of(step, place, shown.scenario.query_heads());
    std::vector<std::uint8_t> changed;
    for (Index row = 0; row < heatmap.rows; ++row)
        for (Index column = 0; column < heatmap.columns; ++column) {
            const ShownNumber number = number_at(run, step, slice, row, column);
            const Tensor& old = number.step == &step ? old_values : shown.unedited->value(number.step->name);
            changed.push_back(
                !old.contains(number.cell) || unchanged(heatmap.at(row, column), old.at(number.cell)) ? 0 : 1);
        }
    return changed;
}

// The runs that a snapshot shows: the run under way provides the steps that it has already.
Origins origins_of(const Snapshot& shown) { return {shown.run, shown.unedited, shown.early}; }

}  // namespace

Value<ShownHeatmap> shown_heatmap(Derived& derived, const Snapshot& shown, const Step& step, Place place) {
    return derived.get<ShownHeatmap>(origins_of(shown), std::tie(step.id, place), [&] {
        ShownHeatmap made = {picture_of(shown.scenario, shown.run_of(step), step, place), {}};
        made.changed = changes(shown, step, made.heatmap, place);
        return made;
    });
}

Value<ShownOutline> shown_outline(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.get<ShownOutline>({run}, std::tuple<>(), [&] { return ShownOutline{outline_of(run->plan())}; });
}

Value<Explanation> shown_explanation(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<Explanation>(origins_of(shown), std::tie(step.id, cell),
                                    [&] { return shown.run_of(step).explain(step.id, cell); });
}

Value<ReadExplanation> shown_terms(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ReadExplanation>(origins_of(shown), std::tie(step.id, cell), [&] {
        const Run& run = shown.run_of(step);
        return read_explanation(shown.scenario, run, run.plan()[step.id], cell);
    });
}

Value<PlaceNames> shown_row_names(Derived& derived, const Snapshot& shown, const Step& step, Index batch) {
    return derived.get<PlaceNames>(origins_of(shown), std::tie(step.id, batch),
                                   [&] { return PlaceNames(shown.scenario, step, {step.axes.size() - 2}, batch); });
}

Value<ShownPlace> shown_place(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ShownPlace>(origins_of(shown), std::tie(step.id, cell),
                                   [&] { return ShownPlace{place_text(shown.scenario, step, cell)}; });
}

}  // namespace decoderscope::core::step
