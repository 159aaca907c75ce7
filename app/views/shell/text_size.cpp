#include "app/views/shell/text_size.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

// Sizes that differ by rounding alone are the same.
constexpr float kSame = 1e-4F;

}  // namespace

std::span<const float> text_sizes() {
    static constexpr std::array sizes = {0.6F, 0.7F,  0.8F, 0.9F,  1.0F, 1.1F, 1.25F,
                                         1.5F, 1.75F, 2.0F, 2.25F, 2.5F, 3.0F};
    return sizes;
}

float largest_text_size(ImVec2 window) {
    const float most = std::min(window.x / kLeastRoom.x, window.y / kLeastRoom.y) + kSame;
    float largest = text_sizes().front();
    for (const float size : text_sizes())
        if (size <= most) largest = size;
    return largest;
}

float drawn_text_size(float wanted, float largest) { return std::min(wanted, largest); }

std::optional<float> larger_text_size(float drawn, float largest) {
    for (const float size : text_sizes())
        if (size > drawn + kSame && size <= largest + kSame) return size;
    return std::nullopt;
}

std::optional<float> smaller_text_size(float drawn) {
    std::optional<float> smaller;
    for (const float size : text_sizes())
        if (size < drawn - kSame) smaller = size;
    return smaller;
}

}  // namespace decoderscope
