#pragma once

#include "app/core/figure/figure.h"
#include "engine/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace decoderscope::core::figure {

// The height of a line of labels.
inline constexpr double line_height = 1.3 * label_size;

// A figure draws at most this many rows and columns; beyond that, each drawn one covers several.
inline constexpr Index most_cells = 1024;

// How wide a figure is to be, in units of its layout: labels have label_size, and the whole is scaled afterwards.
struct Page {
    double width = 0;         // 0: as wide as reads best
    double room = 0;          // how much of it cells, plots or lines may take
    double least_number = 7;  // numbers in cells that would be smaller are left out

    [[nodiscard]] bool is_asked() const { return width > 0; }
    // What one of several that stand side by side may take.
    [[nodiscard]] Page part(std::size_t count) const;
};
// Draws with more or less room until the figure is as wide as the style wants, then scales it to the style's size of
// type. Throws Error if it can't be that narrow.
[[nodiscard]] Figure fitted(const FigureStyle& style, const std::function<Figure(const Page&)>& draw);

// How large one cell of a heatmap is drawn.
struct CellSize {
    double width = 0, height = 0;
};
// Cells for a picture of a printable size: at most 56 wide, a side of about 640 and at most 1,024. They are square
// unless the picture would be a sliver. With a room, as wide as that.
[[nodiscard]] CellSize cell_size(Index rows, Index columns, double room = 0);

// The labels of one axis, thinned so that no two touch.
struct AxisLabels {
    Index stride = 1;                // every stride-th row or column has a label
    bool vertical = false;           // read from bottom to top
    std::vector<std::string> texts;  // of rows or columns 0, stride, 2·stride, …; elided
    double reach = 0;                // how far they reach away from the cells
};

// Labels to the left of rows that are `pitch` apart. Mere indices are thinned further, since a few of them say as much.
[[nodiscard]] AxisLabels row_labels(const std::vector<std::string>& labels, double pitch);
// Labels above columns that are `pitch` apart: horizontal if they fit, vertical if they are words that do not.
[[nodiscard]] AxisLabels column_labels(const std::vector<std::string>& labels, double pitch);

// The colours of everything but the cells.
struct Inks {
    Rgba background, text, quiet, line;
};
[[nodiscard]] Inks inks(bool dark);

// The margin around a figure, the sizes of its title and smaller text, half the height of a capital or digit in em, and
// the width of a hair line.
inline constexpr double margin = 16;
inline constexpr double title_size = 14, subtitle_size = 12.5, axis_name_size = 12.5;
inline constexpr double half_capital = 0.36;
inline constexpr double hair = 0.75;

// A text's size, colour and face, without its content and position.
struct Face {
    double size = label_size;
    Rgba color;
    bool bold = false;
    bool monospace = false;
};

[[nodiscard]] Text text_at(std::string text, double x, double y, const Face& face, Anchor anchor = Anchor::start);
[[nodiscard]] Text upright(Text text);

// A figure being drawn: it grows with what is put onto it.
class Canvas {
public:
    explicit Canvas(bool dark, const Page& page = {}) : inks_(figure::inks(dark)), page_(page) {}

    [[nodiscard]] const Inks& inks() const { return inks_; }
    // How far the drawing reaches to the right and down so far.
    [[nodiscard]] double right() const { return right_; }
    [[nodiscard]] double bottom() const { return bottom_; }

    // How wide a text may be: as wide as the page has room for, or as this.
    [[nodiscard]] double text_width(double otherwise) const {
        return page_.is_asked() ? page_.width - 2 * margin : otherwise;
    }

    void grow(const Box& box);
    // Texts, rectangles and cells make it grow.
    void put(Primitive primitive);
    // A hair line.
    void line(double x1, double y1, double x2, double y2, Rgba color);
    // A hair line around a box.
    void frame(const Box& box);
    // Everything another figure shows, moved this far to the right and down.
    void put(Figure other, double x, double y);

    // Lines of text below each other, wrapped at `width`; returns where the next line would be.
    double paragraph(const std::string& text, double x, double y, double width, const Face& face);
    // Title and subtitle at the top left; returns where the content below may begin.
    double heading(const std::string& title, const std::string& subtitle);

    // The figure, with a margin around it; leaves the canvas empty.
    [[nodiscard]] Figure finished(const std::string& name);

private:
    Inks inks_;
    Page page_;
    Figure figure_;
    double right_ = 0, bottom_ = 0;
};

// How far down a heading with these texts reaches.
[[nodiscard]] double heading_bottom(const std::string& title, const std::string& subtitle);

// Texts with their numbers from 1, one below the other, below everything drawn so far.
void draw_numbered(Canvas& canvas, const std::vector<std::string>& texts);

// What was run and changed, below everything drawn so far.
void draw_caption(Canvas& canvas, const std::string& caption);

}  // namespace decoderscope::core::figure
