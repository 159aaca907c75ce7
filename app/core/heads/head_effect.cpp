#include "app/core/heads/head_effect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace decoderscope {

namespace {

// The numbers of one position: [vocab] or [d_model].
std::span<const float> numbers_at(const Tensor& tensor, Index batch, Index position) {
    const auto size = static_cast<std::size_t>(tensor.dim(2));
    return tensor.values().subspan(static_cast<std::size_t>(batch * tensor.dim(1) + position) * size, size);
}

double difference(float before, float after) {
    if (std::isnan(before) && std::isnan(after)) return 0.0;
    if (before == after) return 0.0;  // covers equal infinities
    return static_cast<double>(after) - static_cast<double>(before);
}

Index largest_index(std::span<const float> numbers) {
    return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

PositionEffect effect_of(std::span<const float> before, std::span<const float> after) {
    PositionEffect effect;
    double squares = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double d = std::abs(difference(before[i], after[i]));
        squares += d * d;
        // A NaN is kept, since no comparison with it is true.
        if (std::isnan(d) || d > effect.largest) effect.largest = d;
    }
    effect.norm = std::sqrt(squares);
    if (std::isnan(effect.norm)) effect.largest = effect.norm;
    effect.top_before = largest_index(before);
    effect.top_after = largest_index(after);
    return effect;
}

}  // namespace

Ref output_step(const Plan& plan) {
    if (const Ref logits = plan.find("logits")) return logits;
    Ref last = nullptr;
    for (const Step& step : plan.steps()) {
        const bool in_trace = step.role == Role::recorded && !step.in_encoder();
        const bool stream =
            step.axes.size() == 3 && step.axes[1].name == axis::pos && step.axes[2].name == axis::d_model;
        if (in_trace && stream) last = &step;
    }
    return last;
}

std::vector<PositionEffect> position_effects(const Tensor& before, const Tensor& after, Index batch) {
    std::vector<PositionEffect> effects;
    for (Index position = 0; position < before.dim(1); ++position)
        effects.push_back(effect_of(numbers_at(before, batch, position), numbers_at(after, batch, position)));
    return effects;
}

std::vector<ValueChange> largest_changes(const Tensor& before, const Tensor& after, Index batch, Index position,
                                         std::size_t most) {
    const auto was = numbers_at(before, batch, position), is = numbers_at(after, batch, position);
    const auto moved = [&](std::size_t i) { return std::abs(difference(was[i], is[i])); };
    std::vector<std::size_t> places(was.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::erase_if(places, [&](std::size_t i) { return moved(i) == 0.0; });
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        if (std::isnan(moved(a)) || std::isnan(moved(b))) return std::isnan(moved(a)) && !std::isnan(moved(b));
        return moved(a) > moved(b);
    });
    std::vector<ValueChange> changes;
    for (std::size_t i = 0; i < std::min(most, places.size()); ++i)
        changes.push_back({static_cast<Index>(places[i]), was[places[i]], is[places[i]]});
    return changes;
}

std::optional<std::size_t> furthest(const std::vector<PositionEffect>& effects) {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        const double moved = effects[i].largest;
        if (std::isnan(moved)) return i;
        if (moved > 0.0 && (!place || moved > effects[*place].largest)) place = i;
    }
    return place;
}

}  // namespace decoderscope
