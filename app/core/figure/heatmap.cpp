#include "app/core/figure/heatmap.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::core {
namespace {

float largest(std::span<const float> values, float (*measure)(float)) {
    float found = 0.0F;
    for (const float value : values) {
        if (std::isfinite(value)) found = std::max(found, measure(value));
    }
    return found;
}

}  // namespace

Range range_of(std::span<const float> values, Scale scale) {
    if (scale == Scale::sequential) {
        const float high = largest(values, [](float value) { return value; });
        return {0.0F, high > 0.0F ? high : 1.0F};
    }
    const float reach = largest(values, [](float value) { return std::fabs(value); });
    return reach > 0.0F ? Range{-reach, reach} : Range{-1.0F, 1.0F};
}

Range range_of_seen(const Heatmap& heatmap) {
    std::vector<float> values;
    for (std::size_t i = 0; i < heatmap.values.size(); ++i)
        if (heatmap.hidden.empty() || !hidden_by::masked(heatmap.hidden[i])) values.push_back(heatmap.values[i]);
    return range_of(values, heatmap.scale);
}

std::optional<float> highest_fill(std::span<const float> values) {
    constexpr float kHighest = -1e4F, kTimes = 1e3F;
    const auto fills = [](float value) { return value <= kHighest && std::isfinite(value); };
    if (std::ranges::none_of(values, fills)) return std::nullopt;
    float highest = -std::numeric_limits<float>::max(), others = 0.0F;
    bool has_others = false;
    for (const float value : values) {
        if (!std::isfinite(value)) continue;
        if (fills(value)) {
            highest = std::max(highest, value);
        } else {
            others = std::max(others, std::fabs(value));
            has_others = true;
        }
    }
    if (!has_others || -highest < kTimes * others) return std::nullopt;
    return highest;
}

}  // namespace decoderscope::core
