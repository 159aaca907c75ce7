#pragma once

#include <vector>

namespace decoderscope {

// The upright axis of a small chart: round ends, two to four round ticks, even or logarithmic.
struct ChartAxis {
    double low = 0.0, high = 1.0;  // low < high; both > 0 where `logarithmic`
    bool logarithmic = false;
    std::vector<double> ticks;  // in order, from low to high

    // Where a value lies, from 0 at `low` to 1 at `high`; outside of that where it is outside. The value is finite.
    [[nodiscard]] double place(double value) const;
};

// An axis for values that span least to most (finite, least <= most). With `may_be_logarithmic` it becomes so where all
// are positive and span a factor of 8 or more. An even axis holds 0.
[[nodiscard]] ChartAxis chart_axis(double least, double most, bool may_be_logarithmic);

}  // namespace decoderscope
