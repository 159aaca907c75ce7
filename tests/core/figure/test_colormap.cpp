#include "app/core/figure/colormap.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

using Triple = std::array<double, 3>;

Triple linear(Rgba color) {
    const auto channel = [](std::uint8_t byte) {
        const double c = byte / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return {channel(color.r), channel(color.g), channel(color.b)};
}

Triple times(const std::array<Triple, 3>& matrix, const Triple& v) {
    Triple product{};
    for (std::size_t i = 0; i < 3; ++i) product[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
    return product;
}

// How a person without green cones sees a colour, in linear sRGB (Machado, Oliveira and Fernandes, 2009).
Triple as_deuteranope(Rgba color) {
    Triple seen =
        times({{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
              linear(color));
    for (double& channel : seen) channel = std::clamp(channel, 0.0, 1.0);
    return seen;
}

// Oklab of a colour in linear sRGB: a distance of 0.02 is just visible, one of 0.1 is obvious.
Triple oklab(const Triple& rgb) {
    Triple cones = times({{{0.4122214708, 0.5363325363, 0.0514459929},
                           {0.2119034982, 0.6806995451, 0.1073969566},
                           {0.0883024619, 0.2817188376, 0.6299787005}}},
                         rgb);
    for (double& cone : cones) cone = std::cbrt(cone);
    return times({{{0.2104542553, 0.7936177850, -0.0040720468},
                   {1.9779984951, -2.4285922050, 0.4505937099},
                   {0.0259040371, 0.7827717662, -0.8086757660}}},
                 cones);
}

double distance(const Triple& a, const Triple& b) {
    const Triple p = oklab(a);
    const Triple q = oklab(b);
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double distance(Rgba a, Rgba b) { return distance(linear(a), linear(b)); }
double deuteranope_distance(Rgba a, Rgba b) { return distance(as_deuteranope(a), as_deuteranope(b)); }

struct Theme {
    ColorMap map;
    Scale scale;
    Range range;
    bool dark;
};

const std::vector<Theme> themes = {
    {ColorMap::viridis, Scale::sequential, {0, 1}, false},     {ColorMap::viridis, Scale::sequential, {0, 1}, true},
    {ColorMap::cividis, Scale::sequential, {0, 1}, false},     {ColorMap::cividis, Scale::sequential, {0, 1}, true},
    {ColorMap::blue_orange, Scale::diverging, {-1, 1}, false}, {ColorMap::blue_orange, Scale::diverging, {-1, 1}, true},
};

Rgba at(const Theme& theme, double part) {
    const double value = theme.range.low + part * (theme.range.high - theme.range.low);
    return color_of(static_cast<float>(value), theme.range, theme.scale, theme.map, theme.dark);
}

constexpr std::array<Mark, 6> all_marks = {Mark::nan,   Mark::positive_infinity, Mark::negative_infinity, Mark::above,
                                           Mark::below, Mark::vanished};

constexpr std::array<Meaning, 9> all_meanings = {Meaning::embedding, Meaning::query,     Meaning::key,
                                                 Meaning::value,     Meaning::attention, Meaning::mlp,
                                                 Meaning::norm,      Meaning::residual,  Meaning::output};

}  // namespace

TEST_CASE("a sequential range runs from zero to the largest finite value") {
    const std::vector<float> values = {0.25F, kNan, 0.75F, kInfinity, -3.0F, -kInfinity};
    CHECK(range_of(values, Scale::sequential) == Range{0.0F, 0.75F});
}

TEST_CASE("a diverging range is symmetric about zero and spans the finite values") {
    const std::vector<float> values = {0.25F, -2.0F, kNan, 1.0F, kInfinity, -kInfinity};
    CHECK(range_of(values, Scale::diverging) == Range{-2.0F, 2.0F});
}

TEST_CASE("a range is never empty") {
    const std::vector<std::vector<float>> cases = {{}, {0.0F, 0.0F}, {kNan}, {-kInfinity, kInfinity}};
    for (const auto& values : cases) {
        CHECK(range_of(values, Scale::sequential) == Range{0.0F, 1.0F});
        CHECK(range_of(values, Scale::diverging) == Range{-1.0F, 1.0F});
    }
    CHECK(range_of(std::vector<float>{-1.0F, -2.0F}, Scale::sequential) == Range{0.0F, 1.0F});
    const float tiny = std::numeric_limits<float>::denorm_min();
    CHECK(range_of(std::vector<float>{tiny}, Scale::sequential) == Range{0.0F, tiny});
}

TEST_CASE("sequential maps grow lighter all the way") {
    for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis}) {
        double before = -1.0;
        for (int i = 0; i <= 64; ++i) {
            const double light =
                luminance(color_of(static_cast<float>(i) / 64.0F, {0, 1}, Scale::sequential, map, false));
            INFO(color_map_name(map) << " at " << i << " of 64");
            CHECK(light > before);
            before = light;
        }
        CHECK(before > 0.7);
    }
}

TEST_CASE("sequential maps start and end where they were published to") {
    CHECK(color_of(0, {0, 1}, Scale::sequential, ColorMap::viridis, false) == Rgba{0x44, 0x01, 0x54, 255});
    CHECK(color_of(1, {0, 1}, Scale::sequential, ColorMap::viridis, false) == Rgba{0xFD, 0xE7, 0x25, 255});
    CHECK(color_of(0, {0, 1}, Scale::sequential, ColorMap::cividis, false) == Rgba{0x00, 0x20, 0x4C, 255});
    CHECK(color_of(1, {0, 1}, Scale::sequential, ColorMap::cividis, false) == Rgba{0xFF, 0xE9, 0x45, 255});
}

TEST_CASE("equal steps of a value are about equal steps of colour") {
    for (const Theme& theme : themes) {
        double least = 1e9;
        double most = 0;
        for (int i = 0; i < 32; ++i) {
            const double step = distance(at(theme, i / 32.0), at(theme, (i + 1) / 32.0));
            least = std::min(least, step);
            most = std::max(most, step);
        }
        INFO(color_map_name(theme.map) << (theme.dark ? " on dark" : " on light"));
        CHECK(least > 0.01);
        CHECK(most < 4 * least);
    }
}

TEST_CASE("the middle of the diverging map is neutral and its ends mirror each other in lightness") {
    for (const bool dark : {false, true}) {
        const auto color = [dark](float value) {
            return color_of(value, {-1, 1}, Scale::diverging, ColorMap::blue_orange, dark);
        };
        const Rgba middle = color(0);
        CHECK(std::max({middle.r, middle.g, middle.b}) - std::min({middle.r, middle.g, middle.b}) <= 2);
        for (int i = 1; i <= 16; ++i) {
            const float value = static_cast<float>(i) / 16.0F;
            const double below = oklab(linear(color(-value)))[0];
            const double above = oklab(linear(color(value)))[0];
            const double nearer = oklab(linear(color(value - 1.0F / 16.0F)))[0];
            CHECK(std::fabs(below - above) < 0.02);
            CHECK((dark ? above > nearer : above < nearer));
        }
        CHECK(color(-1).b > color(-1).r);
        CHECK(color(1).r > color(1).b);
    }
}

TEST_CASE("the sign of a value is seen without green cones") {
    for (const bool dark : {false, true}) {
        for (const float value : {0.25F, 0.5F, 1.0F}) {
            const Rgba below = color_of(-value, {-1, 1}, Scale::diverging, ColorMap::blue_orange, dark);
            const Rgba above = color_of(value, {-1, 1}, Scale::diverging, ColorMap::blue_orange, dark);
            CHECK(deuteranope_distance(below, above) > 0.1 * std::sqrt(value));
        }
    }
}

TEST_CASE("a diverging scale keeps zero neutral on a lopsided range") {
    const auto color = [](float value, Range range) {
        return color_of(value, range, Scale::diverging, ColorMap::blue_orange, false);
    };
    CHECK(color(0, {-1, 4}) == color(0, {-1, 1}));
    CHECK(color(2, {-1, 4}) == color(0.5F, {-1, 1}));
    CHECK(color(-1, {-1, 4}) == color(-0.25F, {-1, 1}));
}

TEST_CASE("the whole span of floats is a range") {
    const Range all{-FLT_MAX, FLT_MAX};
    CHECK(color_of(FLT_MAX, all, Scale::diverging, ColorMap::blue_orange, false) ==
          color_of(1, {-1, 1}, Scale::diverging, ColorMap::blue_orange, false));
    CHECK(color_of(0, all, Scale::sequential, ColorMap::viridis, false) ==
          color_of(0.5F, {0, 1}, Scale::sequential, ColorMap::viridis, false));
}

TEST_CASE("values outside of the range are distinguished") {
    const Range range{-1, 2};
    CHECK(mark_of(kNan, range) == Mark::nan);
    CHECK(mark_of(kInfinity, range) == Mark::positive_infinity);
    CHECK(mark_of(-kInfinity, range) == Mark::negative_infinity);
    CHECK(mark_of(std::nextafter(2.0F, 3.0F), range) == Mark::above);
    CHECK(mark_of(std::nextafter(-1.0F, -2.0F), range) == Mark::below);
    for (const float inside : {-1.0F, 0.0F, 2.0F}) CHECK(mark_of(inside, range) == Mark::none);
    CHECK(mark_text(Mark::negative_infinity) == "−∞");
}

TEST_CASE("no mark looks like a value or like another mark") {
    for (const Theme& theme : themes) {
        for (const Mark mark : all_marks) {
            const Rgba color = mark_color(mark, theme.map, theme.dark);
            INFO(mark_text(mark) << " on " << color_map_name(theme.map) << (theme.dark ? " on dark" : " on light"));
            double nearest = 1e9;
            double nearest_without_green = 1e9;
            for (int i = 0; i <= 256; ++i) {
                nearest = std::min(nearest, distance(color, at(theme, i / 256.0)));
                nearest_without_green =
                    std::min(nearest_without_green, deuteranope_distance(color, at(theme, i / 256.0)));
            }
            CHECK(nearest > 0.09);
            CHECK(nearest_without_green > 0.04);
            for (const Mark other : all_marks) {
                if (other != mark) CHECK(distance(color, mark_color(other, theme.map, theme.dark)) > 0.09);
            }
        }
    }
}

TEST_CASE("NaN has one colour, on every map and in every theme") {
    for (const Theme& theme : themes)
        CHECK(mark_color(Mark::nan, theme.map, theme.dark) == mark_color(Mark::nan, ColorMap::viridis, true));
}

TEST_CASE("a marked value has its mark's colour") {
    CHECK(color_of(kNan, {0, 1}, Scale::sequential, ColorMap::viridis, false) ==
          mark_color(Mark::nan, ColorMap::viridis, false));
    CHECK(color_of(5, {0, 1}, Scale::sequential, ColorMap::viridis, false) ==
          mark_color(Mark::above, ColorMap::viridis, false));
    CHECK(color_of(-kInfinity, {-1, 1}, Scale::diverging, ColorMap::blue_orange, true) ==
          mark_color(Mark::negative_infinity, ColorMap::blue_orange, true));
}

TEST_CASE("text on a colour has the contrast that small print needs") {
    for (const Theme& theme : themes) {
        for (int i = 0; i <= 64; ++i) {
            const double ground = luminance(at(theme, i / 64.0)) + 0.05;
            const double text = luminance(text_color_on(at(theme, i / 64.0))) + 0.05;
            CHECK(std::max(ground, text) / std::min(ground, text) > 4.5);
        }
    }
}

TEST_CASE("the colours of meaning are the Okabe-Ito set's and all differ") {
    CHECK(meaning_color(Meaning::query) == Rgba{0x00, 0x72, 0xB2, 255});
    CHECK(meaning_color(Meaning::key) == Rgba{0xD5, 0x5E, 0x00, 255});
    CHECK(meaning_color(Meaning::value) == Rgba{0x00, 0x9E, 0x73, 255});
    CHECK(meaning_color(Meaning::attention) == Rgba{0xCC, 0x79, 0xA7, 255});
    CHECK(meaning_color(Meaning::mlp) == Rgba{0xE6, 0x9F, 0x00, 255});
    CHECK(meaning_color(Meaning::norm) == Rgba{0x56, 0xB4, 0xE9, 255});
    const Rgba residual = meaning_color(Meaning::residual);
    CHECK((residual.r == residual.g && residual.g == residual.b));
    std::set<std::string> names;
    for (const Meaning meaning : all_meanings) {
        names.emplace(meaning_name(meaning));
        for (const Meaning other : all_meanings) {
            if (meaning == other) continue;
            INFO(meaning_name(meaning) << " and " << meaning_name(other));
            CHECK(distance(meaning_color(meaning), meaning_color(other)) > 0.09);
            CHECK(deuteranope_distance(meaning_color(meaning), meaning_color(other)) > 0.05);
        }
    }
    CHECK(names.size() == all_meanings.size());
}
