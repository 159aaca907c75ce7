#include "app/core/picture/heatmap_keys.h"

#include "engine/for_each_cpu.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace decoderscope {
namespace {

constexpr std::uint32_t kTop = 0x80000000U;
constexpr Key kInfiniteKey = static_cast<Key>(0xff000001U ^ kTop);

inline Key key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::max(static_cast<Key>((bits << 1U | bits >> 31U) ^ kTop), kHiddenKey + 1);
}

FOR_EACH_CPU void raise(Key* keys, const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = std::max(keys[i], key_of(values[i]));
}

FOR_EACH_CPU void raise_where_shown(Key* keys, const float* values, const std::uint8_t* hidden, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Key key = key_of(values[i]);
        const bool shows = hidden[i] == hidden_by::nothing || key > kInfiniteKey;
        keys[i] = std::max(keys[i], shows ? key : kHiddenKey);
    }
}

}  // namespace

float value_of(Key key) {
    const std::uint32_t bits = static_cast<std::uint32_t>(key) ^ kTop;
    return std::bit_cast<float>(bits >> 1U | bits << 31U);
}

void raise_keys(std::span<Key> keys, const Heatmap& heatmap, Index offset) {
    const float* values = heatmap.values.data() + offset;
    if (heatmap.hidden.empty())
        raise(keys.data(), values, keys.size());
    else
        raise_where_shown(keys.data(), values, heatmap.hidden.data() + offset, keys.size());
}

}  // namespace decoderscope
