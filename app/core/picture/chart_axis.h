#pragma once

#include <vector>

namespace decoderscope {

// The vertical axis of a small chart: round ends, two to four round ticks, linear or logarithmic.
struct ChartAxis {
    double low = 0.0, high = 1.0;  // low < high; both > 0 where `logarithmic`
    bool logarithmic = false;
    std::vector<double> ticks;  // in order, from low to high

    // Position of a finite value: 0 at `low`, 1 at `high`, beyond these for values outside the axis.
    [[nodiscard]] double place(double value) const;
};

// An axis for values from least to most (finite, least <= most). With `may_be_logarithmic` it is logarithmic if all
// values are positive and span a factor of 8 or more. A linear axis includes 0.
[[nodiscard]] ChartAxis chart_axis(double least, double most, bool may_be_logarithmic);

}  // namespace decoderscope
