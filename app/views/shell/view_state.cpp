#include "app/views/shell/view_state.h"

#include <cstring>

namespace decoderscope {

namespace {

// Bit for bit, so that a NaN that stays one is no change.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<std::uint8_t> changes(const Snapshot& shown, const Step& step, const Heatmap& heatmap, Place place) {
    const Ref before = shown.unedited->plan().find(step.name);
    if (&shown.run_of(step) == shown.unedited.get() || before == nullptr || before->axes != step.axes) return {};
    const Tensor& old_values = shown.unedited->value(before->id);
    if (old_values.empty() || old_values.shares_values_with(shown.run_of(step).value(step.id))) return {};
    const Slice slice = slice_of(step, place, shown.scenario.config().nhead);
    std::vector<std::uint8_t> changed;
    for (Index row = 0; row < heatmap.rows; ++row)
        for (Index column = 0; column < heatmap.columns; ++column)
            changed.push_back(same(heatmap.at(row, column), old_values.at(slice.cell(row, column))) ? 0 : 1);
    return changed;
}

}  // namespace

const ShownHeatmap& HeatmapCache::get(const Snapshot& shown, const Step& step, Place place) {
    if (version_ != shown.version) heatmaps_.clear();
    version_ = shown.version;
    const auto [found, added] = heatmaps_.try_emplace({step.id, place.batch, place.head});
    ShownHeatmap& entry = found->second;
    if (added) {
        entry.heatmap = heatmap_of(shown.scenario, shown.run_of(step), step, place);
        entry.changed = changes(shown, step, entry.heatmap, place);
        const auto number = [](Index index) { return static_cast<std::uint64_t>(index); };
        entry.version =
            ((shown.version * 1'000'003 + step.id) * 1'000'003 + number(place.batch)) * 1'000'003 + number(place.head);
    }
    return entry;
}

const Explanation& ExplanationCache::get(const Snapshot& shown, const Step& step, const Cell& cell) {
    if (version_ != shown.version || explanations_.size() > 16) explanations_.clear();
    version_ = shown.version;
    const auto [found, added] = explanations_.try_emplace({step.id, cell});
    if (added) found->second = shown.run_of(step).explain(step.id, cell);
    return found->second;
}

}  // namespace decoderscope
