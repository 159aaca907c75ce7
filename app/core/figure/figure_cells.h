#pragma once

#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/heatmap.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace decoderscope::core::figure {

// A heatmap and where its cells lie in a figure.
struct PlacedHeatmap {
    const Heatmap& heatmap;
    Box box;
    CellSize cell;
    ColorMap map = ColorMap::viridis;
    bool dark = false;
    Index most = most_cells;  // rows and columns drawn at most; beyond that, each covers several
    Page page = {};

    [[nodiscard]] double row_middle(Index row) const { return box.y + (static_cast<double>(row) + 0.5) * cell.height; }
    [[nodiscard]] double column_middle(Index column) const {
        return box.x + (static_cast<double>(column) + 0.5) * cell.width;
    }
    [[nodiscard]] Index drawn_rows() const { return std::min(heatmap.rows, most); }
    [[nodiscard]] Index drawn_columns() const { return std::min(heatmap.columns, most); }
    [[nodiscard]] bool is_reduced() const { return drawn_rows() < heatmap.rows || drawn_columns() < heatmap.columns; }
    [[nodiscard]] double smaller_side() const { return std::min(cell.width, cell.height); }
};

// The map that a style has for a heatmap, whose scale becomes the map's own.
[[nodiscard]] ColorMap take_colors(Heatmap& heatmap, const FigureStyle& style);

// One heatmap as heatmap_figure() says, on a page.
[[nodiscard]] Figure drawn_heatmap(Heatmap heatmap, const FigureStyle& style, const Page& page);

// The cells, the hatches of the masks over them, and the lines between them if they are large.
void draw_cells(Canvas& canvas, const PlacedHeatmap& placed);
// The numbers in the cells, if there is room for them.
void draw_numbers(Canvas& canvas, const PlacedHeatmap& placed);
// A numbered mark on each cell that has a note, and before each such row.
void draw_note_marks(Canvas& canvas, const PlacedHeatmap& placed);
// A box hatched like the cells that these masks hide.
void draw_hatch(Canvas& canvas, const Box& box, std::uint8_t causes, double spacing, bool dark);
// The distance between the lines of a hatch on these cells.
[[nodiscard]] double hatch_spacing(const PlacedHeatmap& placed);

// The note of a figure that shows fewer cells than there are.
[[nodiscard]] std::string reduction_note(const PlacedHeatmap& placed);

// The labels and names along the two axes of a heatmap.

void draw_row_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);
void draw_column_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);

// The space that a row axis name takes on the left, and a column axis name above; 0 if there is none.
[[nodiscard]] double row_name_room(const std::string& name);
[[nodiscard]] double column_name_room(const std::string& name);

// The names of the axes around a box; its labels extend by `reach`. They stay right of `left` and below `top`.
void draw_row_name(Canvas& canvas, const std::string& name, const Box& box, double left, double top);
void draw_column_name(Canvas& canvas, const std::string& name, const Box& box, double reach, double left);

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

// The colours of a range from its low end to its high end, labelled with its exact ends and round numbers between.
struct ColorBar {
    Range range;
    Scale scale = Scale::diverging;
    ColorMap map = ColorMap::viridis;
    bool dark = false;
};

// Next to the cells if they are high enough, otherwise below them; there, text may begin at `left`. On a page, the
// cells' part of it says which: whatever room they get in the end, the bar stays where it is.
void draw_bar_at(Canvas& canvas, const ColorBar& bar, const Box& cells, double left, const Page& page);

}  // namespace decoderscope::core::figure
