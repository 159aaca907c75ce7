#pragma once

#include "app/core/export/figure.h"
#include "app/core/export/figure_axes.h"

#include <string>

namespace decoderscope::figure {

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
    explicit Canvas(bool dark) : inks_(figure::inks(dark)) {}

    [[nodiscard]] const Inks& inks() const { return inks_; }
    // How far the drawing reaches to the right and down so far.
    [[nodiscard]] double right() const { return right_; }
    [[nodiscard]] double bottom() const { return bottom_; }

    void grow(const Box& box);
    void put(Text text);
    void put(const FilledRectangle& rectangle);
    void put(CellGrid grid);
    void put(const HatchedRectangle& rectangle);
    void put(const Line& line);
    void put(Polyline line);
    void put(const Circle& circle);
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
    Figure figure_;
    double right_ = 0, bottom_ = 0;
};

// How far down a heading with these texts reaches.
[[nodiscard]] double heading_bottom(const std::string& title, const std::string& subtitle);

// What was run and changed, below everything drawn so far.
void draw_caption(Canvas& canvas, const std::string& caption);

}  // namespace decoderscope::figure
