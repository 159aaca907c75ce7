#include "app/core/figure/colormap.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace decoderscope::core {

namespace {

// A map as a table: colours from its low end to its high end. Odd, so that one entry is exactly the middle.
constexpr std::size_t table_size = 513;
constexpr std::size_t table_middle = table_size / 2;
constexpr auto last_entry = static_cast<double>(table_size - 1);
using ColorTable = std::array<Rgba, table_size>;

// Every eighth colour of viridis (S. van der Walt and N. Smith, 2015; dedicated to the public domain under CC0).
constexpr std::array<std::uint32_t, 33> viridis_anchors = {
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b, 0x375a8d, 0x33638d,
    0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b, 0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b,
    0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c, 0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725,
};

// Every eighth colour of cividis (J. Nuñez, C. Anderton and R. Renslow, PLoS ONE 13(7), 2018; an article under CC0).
constexpr std::array<std::uint32_t, 33> cividis_anchors = {
    0x00204c, 0x00265a, 0x002b68, 0x00306f, 0x05366e, 0x1e3c6c, 0x2c416b, 0x37476b, 0x414d6b, 0x49536b, 0x51586c,
    0x595e6d, 0x60646e, 0x686a70, 0x6f6f72, 0x757575, 0x7c7b78, 0x838178, 0x8b8778, 0x938d78, 0x9b9377, 0xa39a75,
    0xaba174, 0xb4a771, 0xbcae6e, 0xc5b56b, 0xcdbc67, 0xd6c363, 0xdfcb5d, 0xe8d257, 0xf1da50, 0xfbe147, 0xffe945,
};

constexpr Rgba from_hex(std::uint32_t rgb) {
    return {static_cast<std::uint8_t>(rgb >> 16U), static_cast<std::uint8_t>(rgb >> 8U), static_cast<std::uint8_t>(rgb),
            255};
}

std::uint8_t to_byte(double value) { return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0))); }

std::uint8_t between(std::uint8_t from, std::uint8_t to, double part) { return to_byte(from + part * (to - from)); }

ColorTable interpolated(std::span<const std::uint32_t> anchors) {
    ColorTable table;
    for (std::size_t i = 0; i < table_size; ++i) {
        const double at =
            static_cast<double>(i) * static_cast<double>(anchors.size() - 1) / static_cast<double>(table_size - 1);
        const std::size_t left = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
        const double part = at - static_cast<double>(left);
        const Rgba from = from_hex(anchors[left]);
        const Rgba to = from_hex(anchors[left + 1]);
        table[i] = {between(from.r, to.r, part), between(from.g, to.g, part), between(from.b, to.b, part), 255};
    }
    return table;
}

// A colour in Oklab (B. Ottosson, 2020), where equal distances look about equally large.
struct Oklab {
    double lightness = 0.0, a = 0.0, b = 0.0;
};

Oklab from_polar(double lightness, double chroma, double hue_degrees) {
    const double hue = hue_degrees * 3.14159265358979323846 / 180.0;
    return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

double to_linear(std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t from_linear(double c) {
    const double bounded = std::clamp(c, 0.0, 1.0);
    return to_byte(255.0 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * std::pow(bounded, 1.0 / 2.4) - 0.055));
}

double cubed(double x) { return x * x * x; }

Rgba to_rgba(const Oklab& color) {
    const double l = cubed(color.lightness + 0.3963377774 * color.a + 0.2158037573 * color.b);
    const double m = cubed(color.lightness - 0.1055613458 * color.a - 0.0638541728 * color.b);
    const double s = cubed(color.lightness - 0.0894841775 * color.a - 1.2914855480 * color.b);
    return {from_linear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            from_linear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            from_linear(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 255};
}

// One arm of a diverging map: a Bézier curve in Oklab from the neutral middle over `via` to the end.
struct Arm {
    Oklab middle, via, end;

    [[nodiscard]] Rgba at(double t) const {
        const double x = (1 - t) * (1 - t);
        const double y = 2 * t * (1 - t);
        const double z = t * t;
        return to_rgba({x * middle.lightness + y * via.lightness + z * end.lightness,
                        x * middle.a + y * via.a + z * end.a, x * middle.b + y * via.b + z * end.b});
    }
};

// Lightness runs evenly from the middle to both ends, the same on either side; hue carries the sign.
ColorTable blue_orange(bool dark) {
    const double middle = dark ? 0.27 : 0.975;
    const double end = dark ? 0.80 : 0.46;
    const double via = (middle + end) / 2;
    const Arm blue = dark ? Arm{{middle}, from_polar(via, 0.13, 258), from_polar(end, 0.105, 250)}
                          : Arm{{middle}, from_polar(via, 0.14, 250), from_polar(end, 0.145, 257)};
    const Arm orange = dark ? Arm{{middle}, from_polar(via, 0.13, 52), from_polar(end, 0.145, 66)}
                            : Arm{{middle}, from_polar(via, 0.17, 66), from_polar(end, 0.118, 50)};
    ColorTable table;
    for (std::size_t i = 0; i <= table_middle; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(table_middle);
        table[table_middle - i] = blue.at(t);
        table[table_middle + i] = orange.at(t);
    }
    return table;
}

// From white to a dark end of this hue, the same curve as an arm's.
ColorTable on_paper(double end, double chroma, double hue_degrees) {
    const double white = 1.0;
    const Arm arm{
        {white}, from_polar((white + end) / 2, chroma, hue_degrees - 8), from_polar(end, chroma, hue_degrees)};
    ColorTable table;
    for (std::size_t i = 0; i < table_size; ++i) table[i] = arm.at(static_cast<double>(i) / last_entry);
    return table;
}

const ColorTable& table_of(ColorMap map, bool dark) {
    static const ColorTable viridis = interpolated(viridis_anchors);
    static const ColorTable cividis = interpolated(cividis_anchors);
    static const ColorTable on_light = blue_orange(false);
    static const ColorTable on_dark = blue_orange(true);
    static const ColorTable blues = on_paper(0.33, 0.12, 258);
    static const ColorTable greys = on_paper(0.18, 0.0, 0);
    switch (map) {
        case ColorMap::blues:
            return blues;
        case ColorMap::greys:
            return greys;
        case ColorMap::viridis:
            return viridis;
        case ColorMap::cividis:
            return cividis;
        case ColorMap::blue_orange:
            break;
    }
    return dark ? on_dark : on_light;
}

// The colours of the marks, in the order of Mark. NaN has one on every map: it is the same wherever it appears.
using MarkColors = std::array<std::uint32_t, 6>;
constexpr std::uint32_t nan_color = 0xa010ff;
constexpr MarkColors marks_on_sequential = {nan_color, 0xd30108, 0x000000, 0xff9a9a, 0x6b2f00, 0x8ff0ff};
constexpr MarkColors marks_on_diverging = {nan_color, 0x8fe000, 0x005c3c, 0x3d1400, 0x020c30, 0xff5fb8};
constexpr MarkColors marks_on_paper = {nan_color, 0xd30108, 0x005c3c, 0xff5fb8, 0xb06a00, 0x8fe000};
constexpr MarkColors marks_on_diverging_dark = {nan_color, 0xa1ff0f, 0x00a86b, 0xfff0b0, 0xe6f4ff, 0xff5fb8};

struct NamedColor {
    std::string_view name;
    std::uint32_t color;
};
// In the order of Meaning.
constexpr std::array<NamedColor, 9> kMeanings = {{
    {"embedding", 0xF0E442},
    {"query", 0x0072B2},
    {"key", 0xD55E00},
    {"value", 0x009E73},
    {"attention", 0xCC79A7},
    {"MLP", 0xE69F00},
    {"norm", 0x56B4E9},
    {"residual stream", 0x6E6E6E},  // not a message: a name, like an axis's
    {"output", 0x8A5532},
}};

}  // namespace

ColorMap default_map(Scale scale) { return scale == Scale::sequential ? ColorMap::viridis : ColorMap::blue_orange; }

std::string_view color_map_name(ColorMap map) {
    constexpr std::array<std::string_view, 5> names = {"viridis", "cividis", "blue-orange", "blues", "greys"};
    return names[static_cast<std::size_t>(map)];
}

Mark mark_of(float value, Range range) {
    if (std::isnan(value)) return Mark::nan;
    if (std::isinf(value)) return value > 0.0F ? Mark::positive_infinity : Mark::negative_infinity;
    if (value > range.high) return Mark::above;
    if (value < range.low) return Mark::below;
    return Mark::none;
}

Rgba mark_color(Mark mark, ColorMap map, bool dark) {
    const bool paper = map == ColorMap::blues || map == ColorMap::greys;
    const MarkColors& colors = paper                          ? marks_on_paper
                               : map != ColorMap::blue_orange ? marks_on_sequential
                               : dark                         ? marks_on_diverging_dark
                                                              : marks_on_diverging;
    const auto at = std::max(static_cast<std::size_t>(mark), std::size_t{1}) - 1;
    return from_hex(colors[at]);
}

std::string_view mark_text(Mark mark) {
    constexpr std::array<Phrase, 7> texts = {Phrase(""),
                                             message("NaN"),
                                             message("+∞"),
                                             message("−∞"),
                                             message("above the range"),
                                             message("below the range"),
                                             message("rounded to 0")};
    return mark == Mark::none ? "" : tr(texts[static_cast<std::size_t>(mark)]);
}

Rgba color_of(float value, Range range, Scale scale, ColorMap map, bool dark) {
    return Coloring(range, scale, map, dark)(value);
}

Coloring::Coloring(Range range, Scale scale, ColorMap map, bool dark)
    : range_(range), map_(map), dark_(dark), table_(table_of(map, dark)) {
    const double low = range.low, high = range.high;
    const bool diverging = scale == Scale::diverging;
    const double length = diverging ? 2.0 * std::max(std::fabs(low), std::fabs(high)) : high - low;
    origin_ = diverging ? 0.0 : low;
    at_origin_ = diverging ? last_entry / 2.0 : 0.0;
    entries_a_unit_ = length > 0.0 ? last_entry / length : 0.0;
}

Rgba Coloring::operator()(float value) const {
    const Mark mark = mark_of(value, range_);
    if (mark != Mark::none) return mark_color(mark, map_, dark_);
    const double at = at_origin_ + (static_cast<double>(value) - origin_) * entries_a_unit_;
    return table_[static_cast<std::size_t>(std::clamp(at, 0.0, last_entry) + 0.5)];
}

double luminance(Rgba color) {
    return 0.2126 * to_linear(color.r) + 0.7152 * to_linear(color.g) + 0.0722 * to_linear(color.b);
}

Rgba text_color_on(Rgba background) {
    const double light = luminance(background);
    const bool white_contrasts_more = 1.05 / (light + 0.05) > (light + 0.05) / 0.05;
    return white_contrasts_more ? Rgba{255, 255, 255, 255} : Rgba{0, 0, 0, 255};
}

Rgba readable_on(Rgba color, Rgba ground) {
    constexpr double least = 4.5, step = 0.02;
    const Rgba towards = text_color_on(ground);
    Rgba shown = color;
    for (double part = step; contrast(shown, ground) < least && part <= 1.0; part += step)
        shown = {between(color.r, towards.r, part), between(color.g, towards.g, part),
                 between(color.b, towards.b, part), color.a};
    return shown;
}

double contrast(Rgba a, Rgba b) {
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

Rgba meaning_color(Meaning meaning) { return from_hex(kMeanings[static_cast<std::size_t>(meaning)].color); }

std::string_view meaning_name(Meaning meaning) { return kMeanings[static_cast<std::size_t>(meaning)].name; }

}  // namespace decoderscope::core
