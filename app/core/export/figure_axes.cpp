#include "app/core/export/figure_axes.h"

#include "app/core/text/text_width.h"
#include "app/core/text/utf8.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace decoderscope::figure {
namespace {

constexpr double longest_label = 120;
constexpr double slimmest_side = 120;

// The size of a cell along a side of `count` cells, ignoring the other side.
double cell_side(Index count) {
    constexpr double largest = 56, side = 640, longest_side = 1024;
    const auto cells = static_cast<double>(std::max<Index>(count, 1));
    const double size = std::max(side / cells, std::min(2.0, longest_side / cells));
    if (size >= 4) return std::min(largest, std::floor(size));
    return size >= 1 ? std::floor(2 * size) / 2 : size;
}

double widest(const std::vector<std::string>& labels) {
    double width = 0;
    for (const std::string& label : labels) width = std::max(width, label_size * text_width_em(label, false, false));
    return width;
}

// The next number that is easy to count in steps of.
Index round_stride(double needed) {
    for (Index scale = 1;; scale *= 10) {
        for (const Index step : {1, 2, 4, 5, 8}) {
            if (static_cast<double>(scale * step) >= needed) return scale * step;
        }
    }
}

bool are_indices(const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] != std::to_string(i)) return false;
    }
    return true;
}

// The labels as they would be drawn if there were room for all.
std::vector<std::string> drawable(const std::vector<std::string>& labels) {
    std::vector<std::string> texts;
    texts.reserve(labels.size());
    for (const std::string& label : labels) {
        texts.push_back(elided(printable(label), longest_label / label_size, false, false));
    }
    return texts;
}

std::vector<std::string> thinned(const std::vector<std::string>& texts, Index stride) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < texts.size(); i += static_cast<std::size_t>(stride)) kept.push_back(texts[i]);
    return kept;
}

// Labels that each take `room` along the axis.
AxisLabels stacked(const std::vector<std::string>& texts, double pitch, double room) {
    AxisLabels axis;
    axis.stride = round_stride(room / pitch);
    axis.texts = thinned(texts, axis.stride);
    axis.reach = widest(axis.texts);
    return axis;
}

}  // namespace

CellSize cell_size(Index rows, Index columns) {
    const CellSize own{cell_side(columns), cell_side(rows)};
    const double square = std::min(own.width, own.height);
    const double slim = static_cast<double>(std::min(rows, columns));
    const bool sliver = square * slim < slimmest_side && std::max(own.width, own.height) > 1.5 * square;
    if (!sliver) return {square, square};
    const double stretched = std::max(square, std::floor(slimmest_side / std::max(slim, 1.0)));
    return {std::min(own.width, columns < rows ? stretched : own.width),
            std::min(own.height, rows < columns ? stretched : own.height)};
}

AxisLabels row_labels(const std::vector<std::string>& labels, double pitch) {
    const bool counts = are_indices(labels) && line_height > pitch;
    return stacked(drawable(labels), pitch, counts ? 2 * line_height : line_height);
}

AxisLabels column_labels(const std::vector<std::string>& labels, double pitch) {
    const std::vector<std::string> texts = drawable(labels);
    const double needed = (widest(texts) + 8) / pitch;
    if (needed > 1 && !are_indices(labels)) {
        AxisLabels upright = stacked(texts, pitch, line_height);
        upright.vertical = true;
        return upright;
    }
    AxisLabels level;
    level.stride = round_stride(needed > 1 ? std::max(needed, 2 * line_height / pitch) : needed);
    level.texts = thinned(texts, level.stride);
    level.reach = label_size;
    return level;
}

}  // namespace decoderscope::figure
