#pragma once

#include "app/core/derived/derived.h"
#include "app/core/picture/heatmap.h"
#include "app/core/session/session.h"

#include <vector>

namespace decoderscope {

// Which weights of a pattern are drawn as lines while no token is pointed at.
struct PatternLines {
    float largest = 0.0F;     // at most 1
    float least = 0.0F;       // lines have more weight than this
    bool leaves_out = false;  // some have less
};

// All weights above 0.02, or above half of the largest if that is less. A long pattern shows its largest weights alone,
// about four a token: all lines together would be a block of one colour.
[[nodiscard]] PatternLines pattern_lines(const Heatmap& pattern);
[[nodiscard]] Value<PatternLines> shown_pattern_lines(Derived& derived, const Snapshot& shown, const Step& pattern,
                                                      Place place);

// Which of some labels on a line have room, at least `distance` apart: the weightiest first, then in order. Labels of
// weight 0 come last. `at` are their positions, in ascending order.
[[nodiscard]] std::vector<bool> labels_with_room(const std::vector<float>& at, const std::vector<float>& weights,
                                                 float distance);

}  // namespace decoderscope
