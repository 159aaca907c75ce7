#include "engine/decoder/initial_weights.h"

#include "engine/base/random.h"
#include "engine/decoder/decoder.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::decoder {

namespace {

// A Linear's numbers are drawn between minus and plus this.
double bound_of(const Declared& parameter, Initialisation rule) {
    if (rule == Initialisation::pytorch) return 1.0 / std::sqrt(static_cast<double>(parameter.init.fan_in));
    const std::size_t rank = parameter.axes.size();  // of experts' matrices each counts by itself
    if (rank < 2 || parameter.init.kind == Init::Kind::linear_bias) return 0.0;
    return std::sqrt(6.0 / static_cast<double>(parameter.axes[rank - 2].size + parameter.axes[rank - 1].size));
}

}  // namespace

Tensor initial_weight(const Declared& parameter, std::uint64_t seed, Initialisation rule) {
    Tensor tensor(parameter.axes);
    const std::span<float> values = tensor.writable();
    const RandomStream random(seed, parameter.name);
    std::uint64_t i = 0;
    const Init::Kind kind = parameter.init.kind;
    if (kind == Init::Kind::linear || kind == Init::Kind::linear_bias) {
        const double bound = bound_of(parameter, rule);
        for (float& value : values) value = static_cast<float>((2.0 * random.uniform(i++) - 1.0) * bound);
    } else if (kind == Init::Kind::embedding) {
        for (float& value : values) value = static_cast<float>(random.normal(i++));
    } else {
        const bool gain = kind == Init::Kind::gain, half = kind == Init::Kind::half;
        std::ranges::fill(values, gain ? 1.0F : half ? 0.5F : 0.0F);  // 0: a shift, or a gain less one
    }
    return tensor;
}

Weights initial_weights(const Config& config, std::uint64_t seed, Initialisation rule) {
    Weights weights;
    for (const Declared& parameter : declared_parameters(config))
        if (parameter.initial) weights.emplace(parameter.name, initial_weight(parameter, seed, rule));
    return weights;
}

}  // namespace decoderscope::decoder
