#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "app/core/text/characters.h"
#include "engine/base/base64.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <utility>

namespace decoderscope::core {
namespace {

constexpr std::string_view proportional_fonts = "Inter, Helvetica, Arial, sans-serif";
constexpr std::string_view monospaced_fonts = "'JetBrains Mono', 'DejaVu Sans Mono', monospace";

// A length to a thousandth of a unit, written as short as possible.
std::string number(double value) {
    std::array<char, 32> buffer{};
    const double rounded = std::round(value * 1000) / 1000;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), rounded == 0 ? 0.0 : rounded);
    return {buffer.data(), end.ptr};
}

std::string color(Rgba rgba) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "#";
    for (const std::uint8_t channel : {rgba.r, rgba.g, rgba.b}) {
        text += digits[channel >> 4U];
        text += digits[channel & 0xFU];
    }
    return text;
}

std::string attribute(std::string_view name, std::string_view value) {
    return std::string(" ").append(name).append("=\"").append(value).append("\"");
}

std::string attribute(std::string_view name, double value) { return attribute(name, number(value)); }

// A paint attribute, with its opacity if it is not opaque: ` fill="#440154"`.
std::string paint(const std::string& name, Rgba rgba) {
    const std::string opacity = rgba.a == 255 ? "" : attribute(name + "-opacity", rgba.a / 255.0);
    return attribute(name, color(rgba)) + opacity;
}

std::string box_attributes(const figure::Box& box) {
    return attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
           attribute("height", box.height);
}

struct Writer {
    std::ostream& out;
    SvgColors palette;
    bool cells_are_pictures;

    // The paint of everything but cells: in a page with two themes, the variable of the ink.
    [[nodiscard]] std::string ink(const std::string& name, Rgba rgba) const {
        if (palette == SvgColors::fixed) return paint(name, rgba);
        const figure::Inks inks = figure::inks(false);
        const std::array<std::pair<Rgba, const char*>, 4> variables = {
            {{inks.text, "--text"}, {inks.quiet, "--quiet"}, {inks.line, "--line"}, {inks.background, "--page"}}};
        for (const auto& [own, variable] : variables)
            if (rgba == own) return attribute("style", name + ":var(" + variable + ")");
        return paint(name, rgba);
    }
    // White in a dark cell stays white on any page.
    [[nodiscard]] std::string text_ink(Rgba rgba) const {
        return rgba == figure::inks(false).background ? paint("fill", rgba) : ink("fill", rgba);
    }

    void operator()(const figure::FilledRectangle& rectangle) const {
        out << "<rect" << box_attributes(rectangle.box) << paint("fill", rectangle.fill) << "/>\n";
    }

    void operator()(const figure::Line& line) const {
        out << "<line" << attribute("x1", line.x1) << attribute("y1", line.y1) << attribute("x2", line.x2)
            << attribute("y2", line.y2) << ink("stroke", line.color) << attribute("stroke-width", line.width) << "/>\n";
    }

    void operator()(const figure::Polyline& line) const {
        out << "<polyline fill=\"none\" stroke-linejoin=\"round\"" << ink("stroke", line.color)
            << attribute("stroke-width", line.width);
        if (line.dash > 0) out << attribute("stroke-dasharray", number(line.dash));
        out << " points=\"";
        const char* before = "";
        for (const figure::Point& point : line.points) {
            out << before << number(point.x) << "," << number(point.y);
            before = " ";
        }
        out << "\"/>\n";
    }

    void operator()(const figure::Circle& circle) const {
        out << "<circle" << attribute("cx", circle.center.x) << attribute("cy", circle.center.y)
            << attribute("r", circle.radius) << ink("fill", circle.fill) << ink("stroke", circle.edge)
            << attribute("stroke-width", circle.edge_width) << "/>\n";
    }

    void operator()(const figure::Text& text) const {
        constexpr std::array<std::string_view, 3> anchors = {"start", "middle", "end"};
        out << "<text" << attribute("x", text.x) << attribute("y", text.y)
            << attribute("font-family", text.monospace ? monospaced_fonts : proportional_fonts)
            << attribute("font-size", text.size);
        if (text.bold) out << attribute("font-weight", "bold");
        if (text.anchor != figure::Anchor::start) {
            out << attribute("text-anchor", anchors[static_cast<std::size_t>(text.anchor)]);
        }
        if (text.vertical) out << attribute("transform", "rotate(-90 " + number(text.x) + " " + number(text.y) + ")");
        out << text_ink(text.color) << attribute("xml:space", "preserve") << ">" << xml_escaped(text.text)
            << "</text>\n";
    }

    // In units of a cell, so that each rectangle is short; a run of one colour along a row is one rectangle.
    void operator()(const figure::CellGrid& grid) const {
        if (grid.rows == 0 || grid.columns == 0) return;
        if (cells_are_pictures) return write_picture(grid);
        const std::string scale =
            number_of_cells(grid.box.width, grid.columns) + " " + number_of_cells(grid.box.height, grid.rows);
        out << "<g"
            << attribute("transform",
                         "translate(" + number(grid.box.x) + " " + number(grid.box.y) + ") scale(" + scale + ")")
            << attribute("shape-rendering", "crispEdges") << ">\n";
        for (Index row = 0; row < grid.rows; ++row) write_row(grid, row);
        out << "</g>\n";
    }

    void operator()(const figure::HatchedRectangle& rectangle) const {
        const auto segments = figure::hatch_segments(rectangle);
        if (segments.empty()) return;
        out << "<path" << attribute("fill", "none") << paint("stroke", rectangle.color)
            << attribute("stroke-width", figure::stroke_width(rectangle));
        if (rectangle.hatch == Hatch::dots) out << attribute("stroke-linecap", "round");
        out << " d=\"";
        for (const figure::Segment& segment : segments) write_segment(segment);
        out << "\"/>\n";
    }

private:
    // The side of one cell, precise enough that a thousand cells still meet the end of the box.
    static std::string number_of_cells(double side, Index cells) {
        std::array<char, 32> buffer{};
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), side / static_cast<double>(cells));
        return {buffer.data(), end.ptr};
    }

    // A pixel per cell, enlarged without smoothing.
    void write_picture(const figure::CellGrid& grid) const {
        std::ostringstream png;
        write_png_pixels(png, grid.columns, grid.rows, grid.colors);
        out << "<image" << box_attributes(grid.box) << attribute("preserveAspectRatio", "none")
            << attribute("style", "image-rendering:pixelated")
            << attribute("xlink:href", "data:image/png;base64," + base64(png.str())) << "/>\n";
    }

    void write_row(const figure::CellGrid& grid, Index row) const {
        const Rgba* colors = grid.colors.data() + row * grid.columns;
        for (Index column = 0; column < grid.columns;) {
            Index last = column + 1;
            while (last < grid.columns && colors[last] == colors[column]) ++last;
            out << "<rect x=\"" << column << "\" y=\"" << row << "\" width=\"" << last - column << "\" height=\"1\""
                << paint("fill", colors[column]) << "/>\n";
            column = last;
        }
    }

    // A dot is given a length, since some programs don't draw the round ends of an empty line.
    void write_segment(const figure::Segment& segment) const {
        const bool dot = segment.x1 == segment.x2 && segment.y1 == segment.y2;
        out << "M" << number(segment.x1) << " " << number(segment.y1) << "L" << number(segment.x2 + (dot ? 0.01 : 0))
            << " " << number(segment.y2);
    }
};

}  // namespace

std::string xml_escaped(std::string_view text) {
    static constexpr std::string_view kMarks = "<>&\"";
    static constexpr std::array<std::string_view, 4> kEscapes = {"&lt;", "&gt;", "&amp;", "&quot;"};
    std::string safe;
    for (const char c : printable(text))
        if (const std::size_t mark = kMarks.find(c); mark != std::string_view::npos)
            safe += kEscapes[mark];
        else
            safe += c;
    return safe;
}

void write_svg(std::ostream& out, const Figure& figure) {
    out << R"(<?xml version="1.0" encoding="UTF-8"?>)"
        << "\n";
    write_svg_element(out, figure, SvgColors::fixed);
}

void write_svg_element(std::ostream& out, const Figure& figure, SvgColors colors) {
    const bool pictures = cells_as_pictures(figure);
    out << R"(<svg xmlns="http://www.w3.org/2000/svg" version="1.1")";
    if (pictures) out << R"( xmlns:xlink="http://www.w3.org/1999/xlink")";
    out << attribute("width", figure.width) << attribute("height", figure.height)
        << attribute("viewBox", "0 0 " + number(figure.width) + " " + number(figure.height)) << R"( role="img")";
    // Screen readers read a page's label; of a file they, and programs that place it, find its description.
    if (colors == SvgColors::of_page)
        out << attribute("aria-label", xml_escaped(figure.name + ". " + spoken_text(figure.said)));
    out << ">\n<title>" << xml_escaped(figure.name) << "</title>\n";
    if (colors == SvgColors::fixed && !figure.said.empty())
        out << "<desc>" << xml_escaped(english_text(figure.said)) << "</desc>\n";
    if (colors == SvgColors::fixed)
        out << "<rect" << box_attributes({0, 0, figure.width, figure.height}) << paint("fill", figure.background)
            << "/>\n";
    const Writer writer{out, colors, pictures};
    for (const figure::Primitive& primitive : figure.primitives) std::visit(writer, primitive);
    out << "</svg>\n";
}

}  // namespace decoderscope::core
