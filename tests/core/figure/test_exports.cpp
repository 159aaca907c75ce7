#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/export.h"
#include "app/core/figure/figure.h"
#include "app/core/figure/numpy.h"
#include "app/core/figure/picture_files.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/figure/markup.h"
#include "tests/engine/not_finite.h"

#include <cairo.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

// A small heatmap with a causal mask.
Heatmap scores() {
    Heatmap heatmap;
    heatmap.title = "blocks.0.attn.masked_scores";
    heatmap.subtitle = "batch 0, head 1";
    heatmap.row_axis = "query";
    heatmap.column_axis = "key";
    heatmap.rows = 2;
    heatmap.columns = 3;
    heatmap.row_labels = {"The", "cat"};
    heatmap.column_labels = {"The", "cat", "sat"};
    heatmap.values = {0.1F, -kInfinity, -kInfinity, 1.5F, -0.25F, kNan};
    heatmap.hidden = {0, hidden_by::causal, hidden_by::causal | hidden_by::padding, 0, 0, hidden_by::hand};
    heatmap.range = {-1.5F, 1.5F};
    return heatmap;
}

Heatmap plain(Index rows, Index columns) {
    Heatmap heatmap = scores();
    heatmap.rows = rows;
    heatmap.columns = columns;
    heatmap.row_labels.assign(static_cast<std::size_t>(rows), "r");
    heatmap.column_labels.assign(static_cast<std::size_t>(columns), "c");
    heatmap.hidden.clear();
    heatmap.values.resize(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) heatmap.values[i] = std::sin(static_cast<float>(i));
    return heatmap;
}

template <class Write>
std::string written(Write write) {
    std::ostringstream out;
    write(out);
    return out.str();
}

std::string svg_of(const Figure& figure) {
    return written([&](std::ostream& out) { write_svg(out, figure); });
}
std::string png_of(const Figure& figure, double scale = 2) {
    return written([&](std::ostream& out) { write_png(out, figure, scale); });
}
std::string csv_of(const Heatmap& heatmap) {
    return written([&](std::ostream& out) { write_csv(out, heatmap); });
}

// ---- PNG

struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint32_t> pixels;  // 0xAARRGGBB, premultiplied

    [[nodiscard]] Rgba at(double x, double y) const {
        const std::uint32_t pixel =
            pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
        return {static_cast<std::uint8_t>(pixel >> 16U), static_cast<std::uint8_t>(pixel >> 8U),
                static_cast<std::uint8_t>(pixel), 255};
    }
};

struct Reader {
    const std::string& bytes;
    std::size_t at = 0;
};

cairo_status_t read_bytes(void* closure, unsigned char* data, unsigned int count) {
    auto& reader = *static_cast<Reader*>(closure);
    if (reader.at + count > reader.bytes.size()) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(data, reader.bytes.data() + reader.at, count);
    reader.at += count;
    return CAIRO_STATUS_SUCCESS;
}

Picture decoded(const std::string& png) {
    Reader reader{png};
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
        cairo_image_surface_create_from_png_stream(read_bytes, &reader), cairo_surface_destroy);
    REQUIRE(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS);
    Picture picture{cairo_image_surface_get_width(surface.get()), cairo_image_surface_get_height(surface.get()), {}};
    const unsigned char* data = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    for (int row = 0; row < picture.height; ++row) {
        const auto* line = reinterpret_cast<const std::uint32_t*>(data + row * stride);
        picture.pixels.insert(picture.pixels.end(), line, line + picture.width);
    }
    return picture;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

// ---- files

// A folder that is gone after the test.
class Folder {
public:
    Folder()
        : path_(std::filesystem::temp_directory_path() / ("decoderscope-" + std::to_string(std::random_device{}()))) {
        std::filesystem::create_directories(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(path_); }

private:
    std::filesystem::path path_;
};

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

// ---- SVG

TEST_CASE("an SVG is well-formed whatever the labels hold") {
    Heatmap heatmap = scores();
    heatmap.title = "a <b> & \"c\" 'd'";
    heatmap.subtitle = std::string("bell \a, null \0, ]]>", 19);
    heatmap.row_labels = {"<&\">", std::string("\x01\x1f\x7f")};
    heatmap.column_labels = {"\xff\xfe", "\xEF\xBF\xBF", "注意 🚀"};
    heatmap.row_axis = "<script>";
    const std::string svg = svg_of(heatmap_figure(heatmap));
    CHECK(xml_fault(svg) == "");
    CHECK(svg.find("&lt;&amp;&quot;&gt;") != std::string::npos);
    CHECK(svg.find("注意 🚀") != std::string::npos);
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find('\x01') == std::string::npos);
    CHECK(svg.find('\xff') == std::string::npos);
    CHECK(svg.find("\uFFFD") != std::string::npos);
}

TEST_CASE("the check for well-formed XML finds faults") {
    CHECK(xml_fault("<a><b/></a>") == "");
    CHECK(xml_fault("<a><b></a>") != "");
    CHECK(xml_fault("<a>x & y</a>") != "");
    CHECK(xml_fault("<a t=\"<\"></a>") != "");
    CHECK(xml_fault("<a>\x01</a>") != "");
}

TEST_CASE("an SVG stands alone and holds its text as text") {
    const std::string svg = svg_of(heatmap_figure(scores()));
    CHECK(svg.find("href") == std::string::npos);
    CHECK(svg.find("url(") == std::string::npos);
    CHECK(svg.find("<image") == std::string::npos);
    CHECK(count_of(svg, "http") == 1);  // the namespace
    for (const char* text : {">blocks.0.attn.masked_scores<", ">query<", ">key<", ">sat<", ">−∞<", ">1.5<"}) {
        INFO(text);
        CHECK(svg.find(text) != std::string::npos);
    }
    CHECK(svg.find("Inter, Helvetica, Arial, sans-serif") != std::string::npos);
    CHECK(svg.find("'JetBrains Mono', 'DejaVu Sans Mono', monospace") != std::string::npos);
}

TEST_CASE("cells of one colour in a row are one rectangle of an SVG") {
    Figure figure;
    figure.width = figure.height = 10;
    const Rgba red{255, 0, 0, 255};
    const Rgba blue{0, 0, 255, 255};
    figure.primitives.emplace_back(figure::CellGrid{{1, 2, 6, 4}, 2, 3, {red, red, blue, blue, red, red}});
    const std::string svg = svg_of(figure);
    CHECK(xml_fault(svg) == "");
    CHECK(svg.find("translate(1 2) scale(2 2)") != std::string::npos);
    CHECK(count_of(svg, R"(<rect x="0" y="0" width="2" height="1" fill="#ff0000"/>)") == 1);
    CHECK(count_of(svg, R"(<rect x="2" y="0" width="1" height="1" fill="#0000ff"/>)") == 1);
    CHECK(count_of(svg, R"(<rect x="0" y="1" width="1" height="1" fill="#0000ff"/>)") == 1);
    CHECK(count_of(svg, R"(<rect x="1" y="1" width="2" height="1" fill="#ff0000"/>)") == 1);
    CHECK(count_of(svg, "<rect") == 5);  // and the background
}

TEST_CASE("an SVG says how a text stands") {
    Figure figure;
    figure.width = figure.height = 10;
    figure.primitives.emplace_back(
        figure::Text{"up", 3, 4.5, 11, {1, 2, 3, 128}, figure::Anchor::end, true, true, true});
    const std::string svg = svg_of(figure);
    for (const char* part : {R"(text-anchor="end")", R"(font-weight="bold")", R"x(transform="rotate(-90 3 4.5)")x",
                             R"(fill="#010203")", R"(fill-opacity="0.502")", R"(font-size="11")"}) {
        INFO(part);
        CHECK(svg.find(part) != std::string::npos);
    }
}

// ---- PNG

TEST_CASE("a PNG has its signature and the figure's size at any scale") {
    const Figure figure = heatmap_figure(scores());
    for (const double scale : {1.0, 1.5, 2.0, 3.0}) {
        const std::string png = png_of(figure, scale);
        REQUIRE(png.size() > 100);
        CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
        CHECK(big_endian(png, 16) == static_cast<std::uint32_t>(std::ceil(figure.width * scale)));
        CHECK(big_endian(png, 20) == static_cast<std::uint32_t>(std::ceil(figure.height * scale)));
        const Picture picture = decoded(png);
        CHECK(std::set<std::uint32_t>(picture.pixels.begin(), picture.pixels.end()).size() > 20);
    }
}

TEST_CASE("every cell of a PNG has its own colour") {
    const Heatmap heatmap = plain(7, 60);
    const Figure figure = heatmap_figure(heatmap, {.numbers = false});
    const Picture picture = decoded(png_of(figure, 2));
    const auto& cells = std::get<figure::CellGrid>(figure.primitives.front());
    const double width = cells.box.width / static_cast<double>(cells.columns);
    const double height = cells.box.height / static_cast<double>(cells.rows);
    for (Index row = 0; row < cells.rows; ++row) {
        for (Index column = 0; column < cells.columns; ++column) {
            const double x = 2 * (cells.box.x + (static_cast<double>(column) + 0.5) * width);
            const double y = 2 * (cells.box.y + (static_cast<double>(row) + 0.5) * height);
            CHECK(picture.at(x, y) == cells.colors[static_cast<std::size_t>(row * cells.columns + column)]);
        }
    }
}

TEST_CASE("text is drawn where its box is") {
    Figure figure;
    figure.width = 120;
    figure.height = 120;
    figure.background = {255, 255, 255, 255};
    for (const bool vertical : {false, true}) {
        for (const auto anchor : {figure::Anchor::start, figure::Anchor::middle, figure::Anchor::end}) {
            const figure::Text text{"query", 60, 60, 14, {}, anchor, false, false, vertical};
            figure.primitives = {text};
            const Picture picture = decoded(png_of(figure, 1));
            const figure::Box box = figure::text_box(text);
            int inside = 0;
            int outside = 0;
            for (int y = 0; y < picture.height; ++y) {
                for (int x = 0; x < picture.width; ++x) {
                    if (picture.at(x, y).g > 200) continue;
                    const bool in = x >= box.x - 1 && x <= box.right() && y >= box.y - 1 && y <= box.bottom();
                    ++(in ? inside : outside);
                }
            }
            CHECK(inside > 40);
            CHECK(outside == 0);
        }
    }
}

TEST_CASE("characters beyond the usual fonts are drawn and harm nothing") {
    Heatmap heatmap = scores();
    heatmap.row_labels = {"注意力", "👨‍👩‍👧 \xff\x01"};
    heatmap.column_labels = {"トークン", "\xF4\x8F\xBF\xBD", ""};
    CHECK(decoded(png_of(heatmap_figure(heatmap))).width > 0);
}

TEST_CASE("the same figure is the same PNG") {
    const Figure figure = heatmap_figure(scores());
    CHECK(png_of(figure) == png_of(figure));
}

TEST_CASE("pixels come back from a PNG as they were") {
    const std::vector<Rgba> pixels = {{1, 2, 3, 255}, {250, 128, 0, 255},   {0, 0, 0, 255},
                                      {9, 8, 7, 255}, {255, 255, 255, 255}, {66, 77, 88, 255}};
    const std::string png = written([&](std::ostream& out) { write_png_pixels(out, 3, 2, pixels); });
    const Picture picture = decoded(png);
    REQUIRE(picture.width == 3);
    REQUIRE(picture.height == 2);
    for (int i = 0; i < 6; ++i) CHECK(picture.at(i % 3, i / 3) == pixels[static_cast<std::size_t>(i)]);
    CHECK(png[25] == 2);  // opaque pixels need no alpha: true colour
}

TEST_CASE("transparent pixels keep their opacity in a PNG") {
    const std::vector<Rgba> pixels = {{200, 100, 50, 128}, {0, 0, 0, 0}};
    const std::string png = written([&](std::ostream& out) { write_png_pixels(out, 2, 1, pixels); });
    const Picture picture = decoded(png);
    CHECK(picture.pixels[0] >> 24U == 128);
    CHECK(picture.pixels[1] == 0);
}

TEST_CASE("a PNG that cannot be is an error") {
    std::ostringstream out;
    const std::vector<Rgba> pixels(6);
    CHECK_THROWS_AS(write_png_pixels(out, 2, 2, pixels), Error);
    CHECK_THROWS_AS(write_png_pixels(out, 0, 0, {}), Error);
    CHECK_THROWS_AS(write_png(out, heatmap_figure(scores()), 1000), Error);
    out.setstate(std::ios::badbit);
    CHECK_THROWS_AS(write_png_pixels(out, 2, 3, pixels), Error);
}

// ---- CSV

TEST_CASE("a CSV has labels around its values") {
    CHECK(csv_of(scores()) ==
          "query\\key,The,cat,sat\r\n"
          "The,0.1,-inf,-inf\r\n"
          "cat,1.5,-0.25,nan\r\n");
}

TEST_CASE("a CSV quotes what would break a row") {
    Heatmap heatmap = scores();
    heatmap.column_labels = {",", "say \"hi\"", "\n"};
    heatmap.row_labels = {"a\rb", " plain "};
    const std::string csv = csv_of(heatmap);
    CHECK(csv.find("query\\key,\",\",\"say \"\"hi\"\"\",\"\n\"\r\n") == 0);
    CHECK(csv.find("\r\n\"a\rb\",0.1") != std::string::npos);
    CHECK(csv.find("\r\n plain ,1.5") != std::string::npos);
    heatmap.row_labels = {"\xff", "x"};
    CHECK(csv_of(heatmap).find("\uFFFD,0.1") != std::string::npos);
}

TEST_CASE("a value in a CSV reads back as the same float") {
    std::mt19937 random(6);
    Heatmap heatmap = plain(1, 500);
    for (float& value : heatmap.values) {
        do {
            value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        } while (!std::isfinite(value));
    }
    heatmap.values[0] = FLT_MAX;
    heatmap.values[1] = std::numeric_limits<float>::denorm_min();
    heatmap.values[2] = -0.0F;
    const std::string csv = csv_of(heatmap);
    std::istringstream row(csv.substr(csv.find("\r\n") + 2));
    std::string field;
    std::getline(row, field, ',');
    for (const float value : heatmap.values) {
        REQUIRE(std::getline(row, field, ','));
        float read = 0;
        std::from_chars(field.data(), field.data() + field.size(), read);
        CHECK(std::bit_cast<std::uint32_t>(read) == std::bit_cast<std::uint32_t>(value));
    }
}

// ---- NPY

TEST_CASE("an NPY has NumPy's header and every bit of the values") {
    for (const Index columns : {1, 3, 10, 12345}) {
        Heatmap heatmap = plain(2, columns);
        heatmap.values[0] = -kInfinity;
        heatmap.values[1] = kNan;
        const std::string npy = written([&](std::ostream& out) { write_npy(out, heatmap); });
        REQUIRE(npy.size() > 10);
        CHECK(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
        const std::size_t header = static_cast<unsigned char>(npy[8]) + 256U * static_cast<unsigned char>(npy[9]);
        CHECK((10 + header) % 64 == 0);
        const std::string text = npy.substr(10, header);
        CHECK(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, " + std::to_string(columns) + "), }") ==
              0);
        CHECK(text.back() == '\n');
        REQUIRE(npy.size() == 10 + header + 4 * heatmap.values.size());
        for (std::size_t i = 0; i < heatmap.values.size(); ++i) {
            std::uint32_t bits = 0;
            for (std::size_t byte = 0; byte < 4; ++byte) {
                bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(npy[10 + header + 4 * i + byte]))
                        << 8 * byte;
            }
            REQUIRE(bits == std::bit_cast<std::uint32_t>(heatmap.values[i]));
        }
    }
}

// ---- JSON

TEST_CASE("a JSON holds everything that the heatmap says") {
    const std::string text = written([](std::ostream& out) { write_json(out, scores()); });
    const auto json = nlohmann::ordered_json::parse(text);
    CHECK(json["tensor"] == "blocks.0.attn.masked_scores");
    CHECK(json["subtitle"] == "batch 0, head 1");
    CHECK(json["row_axis"] == "query");
    CHECK(json["column_axis"] == "key");
    CHECK(json["rows"] == std::vector<std::string>{"The", "cat"});
    CHECK(json["columns"] == std::vector<std::string>{"The", "cat", "sat"});
    CHECK(json["scale"] == "diverging");
    CHECK(json["range"] == std::vector<double>{-1.5, 1.5});
    CHECK(json["values"][0][1] == "-Infinity");
    CHECK(json["values"][1][0] == 1.5);
    CHECK(json["values"][1][2] == "NaN");
    CHECK(json["masked"][0][0].empty());
    CHECK(json["masked"][0][2] == std::vector<std::string>{"causal", "padding"});
    CHECK(json["masked"][1][2] == std::vector<std::string>{"hand"});
    CHECK(text.find("[0.1,") != std::string::npos);
    CHECK(json.begin().key() == "tensor");
}

TEST_CASE("a JSON without masks says nothing of them") {
    Heatmap heatmap = scores();
    const auto parsed = [&] {
        return nlohmann::json::parse(written([&](std::ostream& out) { write_json(out, heatmap); }));
    };
    heatmap.hidden.assign(heatmap.hidden.size(), hidden_by::nothing);
    CHECK_FALSE(parsed().contains("masked"));
    heatmap.hidden.clear();
    CHECK_FALSE(parsed().contains("masked"));
}

TEST_CASE("a JSON is valid whatever the labels hold, and its floats read back the same") {
    Heatmap heatmap = plain(3, 100);
    std::mt19937 random(7);
    for (float& value : heatmap.values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    heatmap.values[0] = FLT_MAX;
    heatmap.values[1] = kInfinity;
    heatmap.row_labels = {"\xff\xfe", "\"quoted\" \\ \n", std::string("\0", 1)};
    const auto json = nlohmann::json::parse(written([&](std::ostream& out) { write_json(out, heatmap); }));
    CHECK(json["rows"][1] == "\"quoted\" \\ \n");
    CHECK(json["values"][0][1] == "Infinity");
    for (std::size_t i = 0; i < heatmap.values.size(); ++i) {
        if (!std::isfinite(heatmap.values[i])) continue;
        CHECK(json["values"][i / 100][i % 100].get<float>() == heatmap.values[i]);
    }
    CHECK(nlohmann::json::parse(written([](std::ostream& out) { write_json(out, plain(0, 0)); }))["values"].empty());
}

// ---- by the path's ending

TEST_CASE("the format of an export is its path's ending, in any case") {
    for (const char* path : {"a.png", "a.svg", "a.csv", "a.npy", "a.json", "A.PNG", "dir.x/b.c.Svg", "/x/y.JSON",
                             "a.pdf", "a.txt", "a.NPZ", "a.safetensors"}) {
        INFO(path);
        CHECK(is_export_path(path));
    }
    for (const char* path : {"", "a", "png", "a.jpg", "a.png/", "dir.png/a", "a.png.text", "a.", ".pn"}) {
        INFO(path);
        CHECK_FALSE(is_export_path(path));
    }
}

TEST_CASE("an export is a whole file in its format") {
    const Folder folder;
    const std::vector<std::pair<std::string, std::string>> starts = {{"a.png", "\x89PNG"},
                                                                     {"a.SVG", "<?xml"},
                                                                     {"a.csv", "query\\key"},
                                                                     {"a.npy", "\x93NUMPY"},
                                                                     {"a.Json", "{\n  \"tensor\""}};
    for (const auto& [name, start] : starts) {
        export_exhibit({.panels = {panel_of("scores", scores())}}, folder / name);
        INFO(name);
        CHECK(content_of(folder / name).rfind(start, 0) == 0);
    }
    CHECK(content_of(folder / "a.csv") == csv_of(scores()));
}

TEST_CASE("an export that cannot be names the path and what was expected") {
    const Folder folder;
    try {
        export_exhibit({.panels = {panel_of("scores", scores())}}, folder / "picture.jpg");
        FAIL("no error");
    } catch (const Error& error) {
        const std::string message = error.what();
        CHECK(message.find(folder / "picture.jpg") != std::string::npos);
        for (const char* ending : {".png", ".svg", ".pdf", ".csv", ".npy", ".npz", ".json", ".safetensors"}) {
            CHECK(message.find(ending) != std::string::npos);
        }
    }
    CHECK(folder.is_empty());
    CHECK_THROWS_AS(export_exhibit({.panels = {panel_of("scores", scores())}}, folder / "no such folder/a.png"), Error);
    CHECK(folder.is_empty());
}
