#include "app/core/run/head_pictures.h"

#include "app/core/figure/heatmap_image.h"
#include "app/core/run/step_picture.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core {

namespace {

// One head's pattern, with only what its picture needs of a heatmap.
Heatmap bare_heatmap(const Run& run, const Step& pattern, const Slice& slice, Range range) {
    const Tensor& weights = run.value(pattern.id);
    Heatmap heatmap{.rows = slice.rows(), .columns = slice.columns(), .scale = Scale::sequential, .range = range};
    const float* first = weights.data() + weights.offset(slice.cell(0, 0));
    heatmap.values.assign(first, first + heatmap.rows * heatmap.columns);
    return heatmap;
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

Range shared_range(const Run& run, std::span<const std::string> attentions, Index batch) {
    Range range = {0.0F, 0.0F};
    const auto reach = [&](const Tensor& weights) {
        const auto size = static_cast<std::size_t>(weights.size() / weights.dim(0));
        for (const float weight : weights.values().subspan(static_cast<std::size_t>(batch) * size, size))
            if (weight > range.high && std::isfinite(weight)) range.high = weight;
    };
    for (const std::string& attention : attentions) {
        const Ref pattern = run.plan().step_of(attention, AttentionStep::pattern);
        reach(run.value(pattern->id));
        if (const Ref sink = sink_beside(run, *pattern)) reach(run.value(sink->id));
    }
    return range.high > 0.0F ? range : Range{};
}

std::vector<Rgba> heads_side_by_side(const Run& run, const Step& pattern, Index batch, PictureSize each, Range range,
                                     bool dark) {
    const Index heads = pattern.axes[1].size;
    const bool alike = hidden_alike(run.plan(), pattern);
    std::vector<std::uint8_t> hidden;
    std::vector<Rgba> pixels(static_cast<std::size_t>(heads * each.width * each.height));
    for (Index head = 0; head < heads; ++head) {
        const Slice slice = slice_of(pattern, {batch, head}, heads);
        Heatmap heatmap = bare_heatmap(run, pattern, slice, range);
        if (head == 0 || !alike) hidden = hidden_cells(run, pattern, slice);
        heatmap.hidden = hidden;
        put_sink_beside(heatmap, run, pattern, slice);
        const CellRect all = {0, 0, heatmap.rows, heatmap.columns};
        const std::vector<Rgba> colors =
            reduced_colors(heatmap, all, each.height, each.width, default_map(Scale::sequential), dark);
        for (Index row = 0; row < each.height; ++row)
            std::copy_n(colors.begin() + row * each.width, each.width,
                        pixels.begin() + (row * heads + head) * each.width);
    }
    return pixels;
}

}  // namespace decoderscope::core
