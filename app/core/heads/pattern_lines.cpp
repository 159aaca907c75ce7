#include "app/core/heads/pattern_lines.h"

#include "app/core/step/shown_step.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace decoderscope {

namespace {

constexpr float kLeastWeight = 0.02F;
constexpr std::size_t kAlwaysDrawn = 400, kLinesOfToken = 4;

}  // namespace

PatternLines pattern_lines(const Heatmap& pattern) {
    std::vector<float> weights;
    for (const float weight : pattern.values)
        if (weight > 0.0F) weights.push_back(weight);
    if (weights.empty()) return {};
    PatternLines lines;
    lines.largest = std::min(*std::ranges::max_element(weights), 1.0F);
    lines.least = std::min(kLeastWeight, lines.largest * 0.5F);
    const auto length = static_cast<std::size_t>(std::max(pattern.rows, pattern.columns));
    const std::size_t most = std::max(kAlwaysDrawn, kLinesOfToken * length);
    if (weights.size() > most) {
        const auto last = weights.begin() + static_cast<std::ptrdiff_t>(most);
        std::nth_element(weights.begin(), last, weights.end(), std::greater<>());
        lines.least = std::max(lines.least, *last);
    }
    lines.leaves_out = std::ranges::any_of(weights, [&](float weight) { return weight <= lines.least; });
    return lines;
}

Value<PatternLines> shown_pattern_lines(Derived& derived, const Snapshot& shown, const Step& pattern, Place place) {
    return derived.get<PatternLines>(Origins{shown.run, shown.unedited, shown.early}, std::tie(pattern.id, place), [&] {
        return pattern_lines(shown_heatmap(derived, shown, pattern, place)->heatmap);
    });
}

std::vector<bool> labels_with_room(const std::vector<float>& at, const std::vector<float>& weights, float distance) {
    std::vector<std::size_t> order(at.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::vector<bool> shown(at.size(), false);
    for (const std::size_t i : order) {
        const auto free = [&](std::ptrdiff_t step) {
            for (auto j = static_cast<std::ptrdiff_t>(i) + step; j >= 0 && j < static_cast<std::ptrdiff_t>(at.size());
                 j += step) {
                const auto k = static_cast<std::size_t>(j);
                if (std::abs(at[k] - at[i]) >= distance) return true;
                if (shown[k]) return false;
            }
            return true;
        };
        shown[i] = free(-1) && free(1);
    }
    return shown;
}

}  // namespace decoderscope
