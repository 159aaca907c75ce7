#pragma once

#include "app/core/picture/heatmap.h"

#include <functional>
#include <string>
#include <vector>

namespace decoderscope::figure {

// One tick of a colour bar: its place on the range, and its text.
struct Tick {
    double value = 0;
    std::string text;
};

// The ticks of a bar that is `length` long, from low to high: the ends of the range, to four significant digits, and
// round numbers between them where they do not touch. `room_of` returns how much of the length a text takes.
[[nodiscard]] std::vector<Tick> ticks(Range range, double length,
                                      const std::function<double(const std::string&)>& room_of);

}  // namespace decoderscope::figure
