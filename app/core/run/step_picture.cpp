#include "app/core/run/step_picture.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace decoderscope::core {

namespace {

// Numbers [row, column] with one more column after them.
template <class T, class At>
std::vector<T> with_column(const std::vector<T>& numbers, Index rows, const At& at) {
    const auto columns = static_cast<std::ptrdiff_t>(numbers.size()) / rows;
    std::vector<T> wider;
    wider.reserve(numbers.size() + static_cast<std::size_t>(rows));
    for (Index row = 0; row < rows; ++row) {
        const auto first = numbers.begin() + row * columns;
        wider.insert(wider.end(), first, first + columns);
        wider.push_back(at(row));
    }
    return wider;
}

}  // namespace

bool hidden_alike(const Plan& plan, const Step& pattern) {
    if (!pattern.masked_by) return true;
    const Step& mask = plan[*pattern.masked_by];
    const auto one_head = [](const Patch& patch) { return patch.where.size() > 1 && patch.where[1].has_value(); };
    return plan.find("custom_mask") == nullptr && std::none_of(mask.patches.begin(), mask.patches.end(), one_head);
}

PictureSize picture_size(const Run& run, const Step& pattern) {
    return {pattern.axes[3].size + (sink_beside(run, pattern) != nullptr ? 1 : 0), pattern.axes[2].size};
}

PictureSize picture_size(const Run& run, const Step& pattern, PictureSize most) {
    const PictureSize whole = picture_size(run, pattern);
    return {std::clamp<Index>(most.width, 1, whole.width), std::clamp<Index>(most.height, 1, whole.height)};
}

Ref sink_beside(const Run& run, const Step& step) {
    if (!step.is_pattern) return nullptr;
    const Ref sink = run.plan().step_of(step.attention, AttentionStep::sink);
    if (sink == nullptr || run.value(sink->id).empty()) return nullptr;
    const Axes &pattern = step.axes, &weights = sink->axes;
    const bool fits = weights.size() == 4 && weights[3].size == 1 &&
                      std::equal(weights.begin(), weights.begin() + 3, pattern.begin(),
                                 [](const Axis& a, const Axis& b) { return a.size == b.size; });
    return fits ? sink : nullptr;
}

Index picture_columns(const Run& run, const Step& step, const Slice& slice) {
    return slice.columns() + (sink_beside(run, step) != nullptr ? 1 : 0);
}

Range picture_range(const Run& run, const Step& step) { return with_sinks_range(range_of_step(run, step), run, step); }

Range with_sinks_range(Range range, const Run& run, const Step& step) {
    if (const Ref sink = sink_beside(run, step)) {
        const Range own = range_of(run.value(sink->id).values(), Scale::sequential);
        // A sink that takes nothing has the range of no number.
        if (std::ranges::any_of(run.value(sink->id).values(), [](float weight) { return weight > 0.0F; }))
            range.high = std::max(range.high, own.high);
    }
    return range;
}

void put_sink_beside(Heatmap& heatmap, const Run& run, const Step& step, const Slice& slice) {
    const Ref sink = sink_beside(run, step);
    if (sink == nullptr || heatmap.has_sink || slice.joins_heads) return;
    const Tensor& weights = run.value(sink->id);
    const auto weight = [&](Index row) { return weights.at(Cell{slice.fixed[0], slice.fixed[1], row, 0}); };
    if (heatmap.hidden.empty()) heatmap.hidden.assign(heatmap.values.size(), hidden_by::nothing);
    heatmap.values = with_column(heatmap.values, heatmap.rows, weight);
    heatmap.hidden = with_column(heatmap.hidden, heatmap.rows, [](Index) { return hidden_by::no_key; });
    if (!heatmap.vanished.empty())
        heatmap.vanished = with_column(heatmap.vanished, heatmap.rows, [](Index) { return std::uint8_t{0}; });
    if (!heatmap.column_labels.empty()) heatmap.column_labels.push_back(tr("sink"));
    ++heatmap.columns;
    heatmap.has_sink = true;
}

Heatmap picture_of(const Scenario& scenario, const Run& run, const Step& step, Place place) {
    if (sink_beside(run, step) == nullptr) return heatmap_of(scenario, run, step, place);
    Heatmap heatmap = heatmap_of(scenario, run, step, place, {picture_range(run, step), std::nullopt});
    put_sink_beside(heatmap, run, step, slice_of(step, place, scenario.query_heads()));
    return heatmap;
}

std::vector<std::uint8_t> changed_cells(const Run& run, const Run& other, const Step& step, const Slice& slice,
                                        const Heatmap& heatmap) {
    const Ref before = other.plan().find(step.name);
    if (before == nullptr || before->axes != step.axes) return {};
    const Tensor& old_values = other.value(before->id);
    const Ref sink = sink_beside(run, step);
    const bool same_sink = sink == nullptr || other.value(sink->name).shares_values_with(run.value(sink->id));
    if (old_values.empty() || (same_sink && old_values.shares_values_with(run.value(step.id)))) return {};
    // Bit for bit, so that a NaN that stays a NaN is not a change.
    const auto unchanged = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    std::vector<std::uint8_t> changed;
    for (Index row = 0; row < heatmap.rows; ++row)
        for (Index column = 0; column < heatmap.columns; ++column) {
            const ShownNumber number = number_at(run, step, slice, row, column);
            const Tensor& old = number.step == &step ? old_values : other.value(number.step->name);
            changed.push_back(
                !old.contains(number.cell) || unchanged(heatmap.at(row, column), old.at(number.cell)) ? 0 : 1);
        }
    return changed;
}

ShownNumber number_at(const Run& run, const Step& step, const Slice& slice, Index row, Index column) {
    const Ref sink = column < slice.columns() ? nullptr : sink_beside(run, step);
    if (sink == nullptr) return {&step, slice.cell(row, column)};
    return {sink, {slice.fixed[0], slice.fixed[1], row, 0}};
}

}  // namespace decoderscope::core
