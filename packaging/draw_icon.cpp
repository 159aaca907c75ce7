// Draws the program's icon into a folder as an icon theme wants it: draw_icon FOLDER
//     scalable/apps/decoderscope.svg, 16x16/apps/decoderscope.png, …
// A causal attention pattern, 4 × 4: each query attends to itself and to earlier keys; one weight is under the lens.
// Designed on a grid of 16 × 16, so that its cells fall on whole pixels.

#include <cairo-svg.h>
#include <cairo.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numbers>
#include <string>

namespace {

constexpr double kGrid = 16.0;
constexpr int kTokens = 4;

struct Color {
    double red, green, blue;
};
constexpr Color kPaper = {0.086, 0.102, 0.129}, kMasked = {0.165, 0.188, 0.231}, kLens = {0.941, 0.949, 0.961};
// From low weight to high: dark blue, teal, green, yellow.
constexpr std::array<Color, 4> kWeights = {
    {{0.259, 0.314, 0.537}, {0.129, 0.569, 0.549}, {0.369, 0.788, 0.384}, {0.992, 0.906, 0.145}}};
// Which of these colours each query gives each key; above the diagonal it is masked.
constexpr std::array<std::array<int, kTokens>, kTokens> kPattern = {
    {{3, -1, -1, -1}, {1, 2, -1, -1}, {0, 3, 1, -1}, {1, 0, 2, 3}}};

void use(cairo_t* cairo, Color color) { cairo_set_source_rgb(cairo, color.red, color.green, color.blue); }

void draw_paper(cairo_t* cairo) {
    constexpr double corner = 3.0, quarter = std::numbers::pi / 2.0;
    cairo_new_sub_path(cairo);
    cairo_arc(cairo, kGrid - corner, corner, corner, -quarter, 0.0);
    cairo_arc(cairo, kGrid - corner, kGrid - corner, corner, 0.0, quarter);
    cairo_arc(cairo, corner, kGrid - corner, corner, quarter, 2.0 * quarter);
    cairo_arc(cairo, corner, corner, corner, 2.0 * quarter, 3.0 * quarter);
    cairo_close_path(cairo);
    use(cairo, kPaper);
    cairo_fill(cairo);
}

// The gaps between the cells are one pixel at least.
void draw_pattern(cairo_t* cairo, double size) {
    const double side = size < 32.0 ? 2.0 : 2.5;
    for (int query = 0; query < kTokens; ++query) {
        for (int key = 0; key < kTokens; ++key) {
            const int weight = kPattern[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
            use(cairo, weight < 0 ? kMasked : kWeights[static_cast<std::size_t>(weight)]);
            cairo_rectangle(cairo, 2.0 + 3.0 * key, 2.0 + 3.0 * query, side, side);
            cairo_fill(cairo);
        }
    }
}

// A ring around the weight that query 2 gives key 1, and its handle.
void draw_lens(cairo_t* cairo) {
    constexpr double x = 6.25, y = 9.25, radius = 2.7, diagonal = std::numbers::sqrt2 / 2.0;
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cairo, 1.0);
    use(cairo, kLens);
    cairo_arc(cairo, x, y, radius, 0.0, 2.0 * std::numbers::pi);
    cairo_stroke(cairo);
    cairo_set_line_width(cairo, 1.5);
    cairo_move_to(cairo, x + (radius + 0.6) * diagonal, y + (radius + 0.6) * diagonal);
    cairo_line_to(cairo, 11.3, 11.3 + (y - x));
    cairo_stroke(cairo);
}

void draw(cairo_t* cairo, double size) {
    cairo_scale(cairo, size / kGrid, size / kGrid);
    draw_paper(cairo);
    draw_pattern(cairo, size);
    if (size >= 24.0) draw_lens(cairo);  // a ring of less than a pixel is a smear
}

bool succeeded(cairo_surface_t* surface, cairo_t* cairo) {
    return cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS && cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
}

bool draw_png(const std::string& path, int size) {
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, size, size);
    cairo_t* cairo = cairo_create(surface);
    draw(cairo, size);
    const bool drawn =
        succeeded(surface, cairo) && cairo_surface_write_to_png(surface, path.c_str()) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return drawn;
}

bool draw_svg(const std::string& path, int size) {
    cairo_surface_t* surface = cairo_svg_surface_create(path.c_str(), size, size);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    cairo_t* cairo = cairo_create(surface);
    draw(cairo, size);
    cairo_surface_finish(surface);
    const bool drawn = succeeded(surface, cairo);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return drawn;
}

// The path of an icon of this size ("16x16", "scalable"); creates its folder. Empty if that fails.
std::string place(const std::filesystem::path& folder, const std::string& size, const std::string& ending) {
    const std::filesystem::path apps = folder / size / "apps";
    std::error_code failed;
    std::filesystem::create_directories(apps, failed);
    return failed ? std::string() : (apps / ("decoderscope" + ending)).string();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "draw_icon: expected one argument, the folder to draw into\n";
        return 2;
    }
    bool drawn = draw_svg(place(arguments[1], "scalable", ".svg"), 128);
    for (const int size : {16, 24, 32, 48, 64, 128, 256, 512}) {
        const std::string name = std::to_string(size) + "x" + std::to_string(size);
        drawn = drawn && draw_png(place(arguments[1], name, ".png"), size);
    }
    if (!drawn) std::cerr << "draw_icon: " << arguments[1] << ": the icon could not be written there\n";
    return drawn ? EXIT_SUCCESS : EXIT_FAILURE;
}
