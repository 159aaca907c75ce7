#pragma once

#include "app/core/figure/colormap.h"
#include "app/core/figure/heatmap.h"
#include "app/core/figure/heatmap_image.h"
#include "engine/base/message.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace decoderscope::core {

// What a figure is made of. Lengths are in units of 1/96 inch, x to the right, y down.
namespace figure {

// The size of labels along the axes and in the legend: 8.25 pt.
inline constexpr double label_size = 11;

struct Box {
    double x = 0, y = 0, width = 0, height = 0;

    [[nodiscard]] double right() const { return x + width; }
    [[nodiscard]] double bottom() const { return y + height; }
};

struct FilledRectangle {
    figure::Box box;
    Rgba fill;
};

struct Line {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    double width = 1;
    Rgba color;
};

// Which point of a text is at its x and y.
enum class Anchor { start, middle, end };

// One line of text on its baseline. A vertical one reads from bottom to top.
struct Text {
    std::string text;
    double x = 0, y = 0;
    double size = 12;
    Rgba color;
    figure::Anchor anchor = figure::Anchor::start;
    bool bold = false;
    bool monospace = false;
    bool vertical = false;
};

// Cells of equal size side by side, coloured row by row.
struct CellGrid {
    figure::Box box;
    Index rows = 0, columns = 0;
    std::vector<Rgba> colors;
};

// Lines or dots within a box. They follow one raster over the whole figure, so that the hatches of adjacent boxes join.
struct HatchedRectangle {
    figure::Box box;
    Hatch hatch = Hatch::none;
    Rgba color;
    double spacing = 7;
    double width = 0.9;
};

struct Point {
    double x = 0, y = 0;
};

// Straight lines from point to point, with round joins.
struct Polyline {
    std::vector<figure::Point> points;
    double width = 1;
    Rgba color;
    double dash = 0;  // length of the dashes and of the gaps between them; 0: none
};

struct Circle {
    figure::Point center;
    double radius = 1;
    Rgba fill, edge;
    double edge_width = 1;
};

using Primitive = std::variant<figure::FilledRectangle, figure::Line, figure::Text, figure::CellGrid,
                               figure::HatchedRectangle, figure::Polyline, figure::Circle>;

// A straight piece of a hatch; a dot has no length and is to be drawn with round ends.
struct Segment {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
[[nodiscard]] std::vector<figure::Segment> hatch_segments(const figure::HatchedRectangle& rectangle);
// The line width of the hatch; dots are drawn wider.
[[nodiscard]] double stroke_width(const figure::HatchedRectangle& rectangle);

// A box that holds the text whichever of its fonts draws it.
[[nodiscard]] figure::Box text_box(const figure::Text& text);

}  // namespace figure

// A drawing that is independent of its file format: SVG, PNG, PDF. Later primitives cover earlier ones.
struct Figure {
    double width = 0, height = 0;
    Rgba background;
    std::string name;            // one line that says what it shows
    std::vector<Sentence> said;  // what it shows by its numbers (app/core/figure/said.h), for whoever can't see it
    std::vector<figure::Primitive> primitives;
};

// Whether a figure has too many cells, beyond 512 × 512, to show each as a rectangle: every program would be slow. A
// file of vectors then holds them as lossless pictures, a pixel per cell, with everything else as vectors.
[[nodiscard]] bool cells_as_pictures(const Figure& figure);

struct FigureStyle {
    bool dark = false;
    ColorMap sequential = ColorMap::viridis;
    ColorMap diverging = ColorMap::blue_orange;
    // For every heatmap, whatever its scale: blue_orange about zero, each other one from the range's low end to its
    // high.
    std::optional<ColorMap> map = std::nullopt;
    bool title = true;    // with what stands below it
    bool numbers = true;  // in cells that have room for them
    bool bar = true;      // of the colours
    bool notes = true;    // the caption: what was run, and what was changed
    bool lines = false;   // of an attention, lines from each query to what it looks at, in place of cells
    double width = 0;     // of the whole figure; 0: as wide as reads best
    double font_size = figure::label_size;  // of labels; all else grows with it, within the width
    std::string caption;                    // a line below everything else
    bool operator==(const FigureStyle&) const = default;
};

// The drawing of one heatmap: title, axes with token labels, cells, numbers, hatched masks, a colour bar with its exact
// range, and a legend of the masks and marks that occur. No two texts overlap. Throws Error if it can't be as narrow as
// the style wants, or it wants lines of what isn't an attention's weights. Cells are square unless that would leave
// a sliver. Beyond 1,024 rows or columns each drawn cell shows the strongest value of several, and the figure says so.
[[nodiscard]] Figure heatmap_figure(const Heatmap& heatmap, const FigureStyle& style = {});

}  // namespace decoderscope::core
