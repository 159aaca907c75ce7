#pragma once

#include "app/core/export/figure_cells.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace decoderscope::figure {

// The masks and marks that occur in some heatmaps, collected one heatmap at a time.
class LegendContents {
public:
    // Cells masked by the same causes, and their fill if it is the same for all.
    struct MaskKind {
        std::uint8_t causes = hidden_by::nothing;
        std::optional<float> fill;
    };

    void add(const Heatmap& heatmap);
    [[nodiscard]] const std::map<std::uint8_t, MaskKind>& masks() const { return masks_; }
    // The marks that some cell shows; a masked cell shows none but NaN.
    [[nodiscard]] const std::set<Mark>& marks() const { return marks_; }

private:
    std::map<std::uint8_t, MaskKind> masks_;
    std::set<Mark> marks_;
};

// How the legend's heatmaps are drawn.
struct LegendStyle {
    ColorMap map = ColorMap::viridis;
    bool dark = false;
    double spacing = 7;          // of the hatches
    std::optional<Range> range;  // names what lies beyond it, if all heatmaps share it
};

// Draws the legend below everything drawn so far, from `left` on, in lines that reach to `right`; `note`, if any, gets
// its own line.
void draw_legend(Canvas& canvas, const LegendContents& contents, const LegendStyle& style, double left, double right,
                 const std::string& note);

}  // namespace decoderscope::figure
