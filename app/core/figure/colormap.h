#pragma once

#include "app/core/figure/heatmap.h"
#include "engine/graph/plan.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace decoderscope::core {

// An sRGB colour, not premultiplied; 255 is opaque.
struct Rgba {
    std::uint8_t r = 0, g = 0, b = 0, a = 255;
    bool operator==(const Rgba&) const = default;
};

// The maps from numbers to colours. All of them can be read with red-green deficiency. The window has the first three;
// what is exported may have the others.
enum class ColorMap {
    viridis,      // sequential: dark violet, green, yellow
    cividis,      // sequential: dark blue, grey, yellow; looks alike with and without red-green deficiency
    blue_orange,  // diverging: blue below zero, neutral at zero, orange above; white at zero on light, dark on dark
    blues,        // sequential, for paper: white to dark blue
    greys,        // the same to black: what a printer without colours prints
};

// Why a value has no place on the colour map; or, of a 0, that only rounding made it one.
enum class Mark { none, nan, positive_infinity, negative_infinity, above, below, vanished };

// The default map of a scale.
[[nodiscard]] ColorMap default_map(Scale scale);
// "viridis", "cividis", "blue-orange", "blues", "greys".
[[nodiscard]] std::string_view color_map_name(ColorMap map);

// Mark::none for a value within the range (ends included), otherwise why it is not.
[[nodiscard]] Mark mark_of(float value, Range range);
// The colour of cells with this mark, which the map itself never shows. `mark` is not none.
[[nodiscard]] Rgba mark_color(Mark mark, ColorMap map, bool dark);
// "NaN", "+∞", "−∞", "above the range", "below the range", "rounded to 0"; empty for none.
[[nodiscard]] std::string_view mark_text(Mark mark);

// The colour of a value. A sequential scale spreads the map from range.low to range.high. A diverging one puts zero at
// the middle of the map and the larger of |low| and |high| at its end, so that equal magnitudes get equal strength.
// Values without a place on the range get their mark's colour. `dark` is the theme behind the picture.
[[nodiscard]] Rgba color_of(float value, Range range, Scale scale, ColorMap map, bool dark);

// As above, for many values: everything that doesn't depend on the value is computed once.
class Coloring {
public:
    Coloring(Range range, Scale scale, ColorMap map, bool dark);
    [[nodiscard]] Rgba operator()(float value) const;
    [[nodiscard]] Rgba operator()(Mark mark) const { return mark_color(mark, map_, dark_); }

private:
    Range range_;
    ColorMap map_;
    bool dark_;
    std::span<const Rgba> table_;
    // Where values lie in the table; in double, because the length of a float range may overflow a float.
    double origin_ = 0.0, at_origin_ = 0.0, entries_a_unit_ = 0.0;
};

// Relative luminance (WCAG 2), from 0 for black to 1 for white.
[[nodiscard]] double luminance(Rgba color);
// The contrast ratio of two opaque colours (WCAG 2), from 1 to 21.
[[nodiscard]] double contrast(Rgba a, Rgba b);
// The colour, made darker or lighter until it can be read as text (4.5 : 1) on this ground.
[[nodiscard]] Rgba readable_on(Rgba color, Rgba ground);
// Black or white, whichever reads better on this colour.
[[nodiscard]] Rgba text_color_on(Rgba background);

// The colour of a meaning in map, timeline, stage and exports: the Okabe–Ito set, which can be read with red-green
// deficiency, with a neutral grey for the residual stream and a brown for the output.
[[nodiscard]] Rgba meaning_color(Meaning meaning);

// "query", "residual stream", …, for legends.
[[nodiscard]] std::string_view meaning_name(Meaning meaning);

}  // namespace decoderscope::core
