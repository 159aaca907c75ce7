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

// The room around a figure, the size of its title and of what is written in smaller letters, and half the height of a
// capital or digit, in em.
inline constexpr double margin = 16;
inline constexpr double title_size = 14, subtitle_size = 12.5, axis_name_size = 12.5;
inline constexpr double half_capital = 0.36;
inline constexpr double hair = 0.75;

// What a text's size, colour and face are, apart from what and where it is.
struct Face {
    double size = label_size;
    Rgba color;
    bool bold = false;
    bool monospace = false;
};

[[nodiscard]] Text text_at(std::string text, double x, double y, const Face& face, Anchor anchor = Anchor::start);
[[nodiscard]] Text upright(Text text);

// A figure while it is drawn: it grows with what is put onto it.
class Canvas {
public:
    explicit Canvas(bool dark) : inks_(figure::inks(dark)) {}

    [[nodiscard]] const Inks& inks() const { return inks_; }
    // How far to the right and down the drawing reaches by now.
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
    // All that another figure shows, moved so far to the right and down.
    void put(Figure other, double x, double y);

    // Lines of text below each other, broken where a word does not fit into `width`; returns where the next would be.
    double paragraph(const std::string& text, double x, double y, double width, const Face& face);
    // Title and subtitle at the top left; returns where what they head may begin.
    double heading(const std::string& title, const std::string& subtitle);

    // The figure, with a margin around it; the canvas is empty then.
    [[nodiscard]] Figure finished(const std::string& name);

private:
    Inks inks_;
    Figure figure_;
    double right_ = 0, bottom_ = 0;
};

// How far down a heading of these texts reaches.
[[nodiscard]] double heading_bottom(const std::string& title, const std::string& subtitle);

// What was run and changed, below all that is drawn.
void draw_caption(Canvas& canvas, const std::string& caption);

}  // namespace decoderscope::figure
