#include "app/core/figure/heatmap.h"

#include <algorithm>
#include <cmath>

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

}  // namespace decoderscope::core
