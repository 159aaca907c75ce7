#pragma once

#include "app/core/export/figure_cells.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace decoderscope::figure {

// The masks and marks that occur in some heatmaps, gathered from one after the other.
class LegendContents {
public:
    // Masked cells of the same causes, and what fills them where that is the same in all.
    struct MaskKind {
        std::uint8_t causes = hidden_by::nothing;
        std::optional<float> fill;
    };

    void add(const Heatmap& heatmap);
    [[nodiscard]] const std::map<std::uint8_t, MaskKind>& masks() const { return masks_; }
    // The marks that some cell shows: a masked one shows none but NaN.
    [[nodiscard]] const std::set<Mark>& marks() const { return marks_; }

private:
    std::map<std::uint8_t, MaskKind> masks_;
    std::set<Mark> marks_;
};

// How the heatmaps are drawn that a legend is of.
struct LegendStyle {
    ColorMap map = ColorMap::viridis;
    bool dark = false;
    double spacing = 7;          // of the hatches
    std::optional<Range> range;  // that what lies beyond it is named with, where all have the same
};

// The legend from `left` on below what is drawn, in lines that reach to `right`; `note`, where there is one, stands in
// a line of its own.
void draw_legend(Canvas& canvas, const LegendContents& contents, const LegendStyle& style, double left, double right,
                 const std::string& note);

}  // namespace decoderscope::figure
