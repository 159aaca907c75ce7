#include "app/core/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>

namespace decoderscope {

namespace {

constexpr double kWithoutEnd = std::numeric_limits<double>::infinity();

std::vector<Index> shape_of(const Tensor& tensor) {
    std::vector<Index> shape;
    for (const Axis& axis : tensor.axes()) shape.push_back(axis.size);
    return shape;
}

std::map<std::string_view, const Tensor*> by_name(const NamedTensors& tensors) {
    std::map<std::string_view, const Tensor*> found;
    for (const auto& [name, tensor] : tensors) found.emplace(name, &tensor);
    return found;
}

bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shares_values_with(b) || std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

double largest_magnitude(std::span<const float> values) {
    float largest = 0.0F;
    for (const float value : values)
        if (const float magnitude = std::fabs(value); magnitude > largest && std::isfinite(magnitude)) largest = magnitude;
    return static_cast<double>(largest);
}

// The measures of two tensors of one shape.
void measure(const Tensor& a, const Tensor& b, double tolerance, TensorDifference& found) {
    found.count = a.size();
    found.same_bits = same_bits(a, b);
    found.scale = largest_magnitude(a.values());
    if (found.same_bits) return;
    found.scale = std::max(found.scale, largest_magnitude(b.values()));
    double sum = 0.0;
    Index at = -1;
    for (Index i = 0; i < a.size(); ++i) {
        const double distance = distance_between(a.data()[i], b.data()[i]);
        sum += distance;
        if (distance > tolerance) ++found.over;
        if (distance <= found.largest) continue;
        found.largest = distance;
        at = i;
    }
    found.mean = sum / static_cast<double>(std::max<Index>(found.count, 1));
    if (at < 0) return;
    found.cell = a.cell(at);
    found.a = a.data()[at];
    found.b = b.data()[at];
}

TensorDifference difference_of(const std::string& name, const Tensor* a, const Tensor* b, double tolerance) {
    TensorDifference found;
    found.name = name;
    if (a != nullptr) found.shape_a = shape_of(*a);
    if (b != nullptr) found.shape_b = shape_of(*b);
    if (b == nullptr) found.presence = Presence::only_in_a;
    else if (a == nullptr) found.presence = Presence::only_in_b;
    else if (found.shape_a != found.shape_b) found.presence = Presence::other_shape;
    else measure(*a, *b, tolerance, found);
    return found;
}

void add(Comparison& comparison, TensorDifference found) {
    const bool both = found.presence == Presence::in_both;
    const bool here = found.presence == Presence::other_shape || found.over > 0;
    if (here && !comparison.first) comparison.first = comparison.tensors.size();
    if (both) ++comparison.in_both;
    else ++comparison.unmatched;
    if (found.over > 0) ++comparison.over;
    comparison.numbers += found.count;
    comparison.largest = std::max(comparison.largest, found.largest);
    comparison.same_bits = comparison.same_bits && found.same_bits;
    comparison.tensors.push_back(std::move(found));
}

}  // namespace

double distance_between(float a, float b) {
    if (a == b) return 0.0;
    const double distance = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    if (!std::isnan(distance)) return distance;
    return std::isnan(a) && std::isnan(b) ? 0.0 : kWithoutEnd;
}

float signed_difference(float a, float b) { return distance_between(a, b) == 0.0 ? 0.0F : a - b; }

double TensorDifference::relative() const {
    if (largest == 0.0) return 0.0;
    return scale > 0.0 ? largest / scale : kWithoutEnd;
}

Comparison compare(const NamedTensors& a, const NamedTensors& b, double tolerance) {
    const auto in_a = by_name(a), in_b = by_name(b);
    Comparison comparison;
    comparison.tolerance = tolerance;
    for (const auto& [name, tensor] : a) {
        if (in_a.at(name) != &tensor) continue;
        const auto other = in_b.find(name);
        add(comparison, difference_of(name, &tensor, other == in_b.end() ? nullptr : other->second, tolerance));
    }
    for (const auto& [name, tensor] : b)
        if (in_b.at(name) == &tensor && !in_a.contains(name)) add(comparison, difference_of(name, nullptr, &tensor, tolerance));
    return comparison;
}

std::vector<std::size_t> worst_first(const Comparison& comparison) {
    const auto rank = [](const TensorDifference& d) {
        if (d.presence == Presence::other_shape) return 0;
        if (d.presence != Presence::in_both) return 2;
        return d.largest > 0.0 ? 1 : 3;
    };
    std::vector<std::size_t> order(comparison.tensors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const TensorDifference &l = comparison.tensors[left], &r = comparison.tensors[right];
        return rank(l) != rank(r) ? rank(l) < rank(r) : l.largest > r.largest;
    });
    return order;
}

double charted_height(double difference) {
    if (!(difference > kLeastCharted)) return difference > 0.0 ? 0.02 : 0.0;
    return std::clamp(1.0 - std::log10(difference) / std::log10(kLeastCharted), 0.02, 1.0);
}

}  // namespace decoderscope
