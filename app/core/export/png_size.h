#pragma once

#include "engine/error.h"
#include "engine/index.h"

#include <cmath>
#include <cstddef>

// What a picture's size may be, whatever draws it.
namespace decoderscope {

// Throws Error unless each side has 1 to 32767 pixels, as of a Cairo image.
inline void check_picture_size(double width, double height) {
    constexpr double kLargestSide = 32767;
    if (!(width >= 1 && height >= 1 && width <= kLargestSide && height <= kLargestSide))
        throw Error("cannot draw the PNG: a side must have 1 to 32767 pixels, not {width} × {height}",
                    {{"width", std::lround(width)}, {"height", std::lround(height)}});
}

// Throws Error unless there is a pixel for each place.
inline void check_pixel_count(std::size_t count, Index width, Index height) {
    if (width < 0 || height < 0 || static_cast<std::size_t>(width * height) != count)
        throw Error("cannot draw the PNG: {count} pixels are not {width} × {height}",
                    {{"count", count}, {"width", width}, {"height", height}});
}

}  // namespace decoderscope
