#include "app/core/export/figure_ticks.h"

#include "app/core/text/numbers.h"

#include <cmath>

namespace decoderscope::figure {
namespace {

constexpr double length_of_a_step = 64;
constexpr double label_gap = 4;

// The smallest of 1, 2 and 5 times a power of ten that is not below this.
double round_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) return factor * power;
    }
    return 10 * power;
}

Tick tick_at(double value) { return {value, short_number_text(value, 4)}; }

}  // namespace

std::vector<Tick> ticks(Range range, double length, const std::function<double(const std::string&)>& room_of) {
    const double low = range.low;
    const double high = range.high;
    const double per_unit = length / (high - low);
    const auto touch = [&](const Tick& a, const Tick& b) {
        return (b.value - a.value) * per_unit < (room_of(a.text) + room_of(b.text)) / 2 + label_gap;
    };
    const double step = round_step(length_of_a_step / per_unit);
    const Tick last = tick_at(high);
    std::vector<Tick> found = {tick_at(low)};
    for (double k = std::ceil(low / step); k * step < high; ++k) {
        const Tick tick = tick_at(k * step);
        if (!touch(found.back(), tick) && !touch(tick, last)) found.push_back(tick);
    }
    found.push_back(last);
    return found;
}

}  // namespace decoderscope::figure
