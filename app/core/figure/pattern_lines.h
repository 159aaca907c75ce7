#pragma once

#include "app/core/figure/figure_canvas.h"
#include "app/core/figure/heatmap.h"

#include <cstddef>
#include <span>
#include <vector>

namespace decoderscope::core {

// Which weights of a pattern are drawn as lines while no token is pointed at.
struct PatternLines {
    struct Line {
        Index query = 0, key = 0;
        float weight = 0.0F;
    };

    float largest = 0.0F;      // at most 1
    float least = 0.0F;        // lines have more weight than this
    bool leaves_out = false;   // some have less
    std::vector<Line> lines;   // the largest last, on top of the others
    std::vector<bool> broken;  // queries whose weights are NaN
};

// They are found while a pattern's rows go by, in the order of queries; only the largest weights are kept.
class FoundLines {
public:
    FoundLines(Index queries, Index keys);
    void add(std::span<const float> weights);  // of the next query
    [[nodiscard]] PatternLines found() const;

private:
    void keep_largest();

    std::size_t most_;
    float least_seen_;
    PatternLines found_;
};

// All weights above 0.02, or above half of the largest if that is less. A long pattern shows only its largest weights,
// about four per token: all lines together would be a block of one colour.
[[nodiscard]] PatternLines pattern_lines(const Heatmap& pattern);

namespace figure {

// An attention's weights as lines from its queries, on the left, to its keys, on the right, below `top`: the larger the
// weight, the wider and the stronger. Throws Error naming the tensor if it isn't a pattern, [query, key].
void draw_pattern(Canvas& canvas, const Heatmap& pattern, const FigureStyle& style, const Page& page, double top);

}  // namespace figure

}  // namespace decoderscope::core
