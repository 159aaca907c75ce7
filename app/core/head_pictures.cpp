#include "app/core/head_pictures.h"

#include "app/core/heatmap_image.h"

#include <algorithm>

namespace decoderscope {

namespace {

// One head's pattern with its masks, and no more of a heatmap than its picture needs.
Heatmap bare_heatmap(const Run& run, const Step& pattern, Place place, Index heads) {
    const Slice slice = slice_of(pattern, place, heads);
    const Tensor& weights = run.value(pattern.id);
    Heatmap heatmap{.rows = slice.rows(), .columns = slice.columns(), .scale = Scale::sequential, .range = {0.0F, 1.0F}};
    const float* first = weights.data() + weights.offset(slice.cell(0, 0));
    heatmap.values.assign(first, first + heatmap.rows * heatmap.columns);
    heatmap.hidden = hidden_cells(run, pattern, slice);
    return heatmap;
}

}  // namespace

PictureSize picture_size(const Step& pattern, PictureSize most) {
    const Index rows = pattern.axes[2].size, columns = pattern.axes[3].size;
    return {std::clamp<Index>(most.width, 1, columns), std::clamp<Index>(most.height, 1, rows)};
}

std::vector<Rgba> heads_side_by_side(const Run& run, const Step& pattern, Index batch, PictureSize each, bool dark) {
    const Index heads = pattern.axes[1].size;
    std::vector<Rgba> pixels(static_cast<std::size_t>(heads * each.width * each.height));
    for (Index head = 0; head < heads; ++head) {
        const Heatmap heatmap = bare_heatmap(run, pattern, {batch, head}, heads);
        const CellRect all = {0, 0, heatmap.rows, heatmap.columns};
        const std::vector<Rgba> colors = reduced_colors(heatmap, all, each.height, each.width, default_map(Scale::sequential), dark);
        for (Index row = 0; row < each.height; ++row)
            std::copy_n(colors.begin() + row * each.width, each.width, pixels.begin() + (row * heads + head) * each.width);
    }
    return pixels;
}

}  // namespace decoderscope
