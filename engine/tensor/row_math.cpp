#include "engine/tensor/row_math.h"

#include "engine/base/on_this_cpu.h"
#include "engine/tensor/vector_functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

namespace decoderscope::row {

namespace {

using vectors::exponential;
using vectors::kLanes;
using vectors::normal_share;
using vectors::turn;
using vectors::Turn;

// The following functions are inlined, so that they are compiled for each generation of instructions.

// Σ of(x)
template <class Of>
[[gnu::always_inline]] inline double added_up(In x, const Of& of) {
    return vectors::added_up(
        x.size(), [&](std::size_t i) __attribute__((always_inline)) { return of(x[i]); });
}

[[gnu::always_inline]] inline float highest(In x) {
    if (x.size() < kLanes) {
        float top = x[0];
        for (const float value : x) top = value > top ? value : top;
        return top;
    }
    std::array<float, kLanes> lanes;
    lanes.fill(x[0]);
    std::size_t i = 0;
    for (; i + kLanes <= x.size(); i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
    float top = lanes[0];
    for (const float lane : lanes) top = lane > top ? lane : top;
    for (; i < x.size(); ++i) top = x[i] > top ? x[i] : top;
    return top;
}

constexpr auto itself = [](float x) __attribute__((always_inline)) { return static_cast<double>(x); };

// What the functions of the header compute, on any CPU.
namespace any_cpu {

double sum(In x) { return added_up(x, itself); }

double squares(In x, double centre) {
    return added_up(x, [centre](float value) {
        const double off = static_cast<double>(value) - centre;
        return off * off;
    });
}

[[gnu::always_inline]] inline void softmax_of_rows(In x, std::size_t width, Out y) {
    for (std::size_t row = 0; row < x.size(); row += width) {
        const float top = highest(x.subspan(row, width));
        for (std::size_t i = row; i < row + width; ++i) y[i] = x[i] - top;
    }
    // All rows at once, because many rows are shorter than a vector.
    for (float& value : y) value = static_cast<float>(exponential(static_cast<double>(value)));
    for (std::size_t row = 0; row < y.size(); row += width) {
        const Out weights = y.subspan(row, width);
        const double share = 1.0 / added_up(weights, itself);
        for (float& value : weights) value = static_cast<float>(static_cast<double>(value) * share);
    }
}

// This handles rows shorter than a vector, whose width is one of these: if the compiler knows it, a row takes a handful
// of instructions.
template <std::size_t... widths>
[[gnu::always_inline]] inline bool softmax_of_short_rows(In x, std::size_t width, Out y,
                                                         std::index_sequence<widths...>) {
    return ((width == widths + 1 && (softmax_of_rows(x, widths + 1, y), true)) || ...);
}

void softmax(In x, std::size_t width, Out y) {
    if (!softmax_of_short_rows(x, width, y, std::make_index_sequence<kLanes - 1>())) softmax_of_rows(x, width, y);
}

void softmax_back(In y, In grad, std::size_t width, Out x) {
    for (std::size_t row = 0; row < y.size(); row += width) {
        const double average = vectors::added_up(
            width, [&](std::size_t i) { return static_cast<double>(grad[row + i]) * static_cast<double>(y[row + i]); });
        for (std::size_t i = row; i < row + width; ++i)
            x[i] = static_cast<float>(static_cast<double>(y[i]) * (static_cast<double>(grad[i]) - average));
    }
}

double log_sum_exp(In x) {
    const auto top = static_cast<double>(highest(x));
    return top + std::log(added_up(x, [top](float value) { return exponential(static_cast<double>(value) - top); }));
}

double entropy(In x) {
    double bits = 0.0;
    for (const float p : x) {
        if (std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
        if (p > 0.0F) bits -= static_cast<double>(p) * std::log2(static_cast<double>(p));
    }
    return bits;
}

void exponentials(In x, double shift, double factor, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = static_cast<float>(factor * exponential(static_cast<double>(x[i]) - shift));
}

void sines_and_cosines(In angles, Out sines, Out cosines) {
    for (std::size_t i = 0; i < angles.size(); ++i) {
        const Turn found = turn(static_cast<double>(angles[i]));
        sines[i] = static_cast<float>(found.sine);
        cosines[i] = static_cast<float>(found.cosine);
    }
}

void normalize(In x, double centre, double scale, In gain, In shift, Out y) {
    const double to_one = 1.0 / scale;
    if (shift.empty()) {
        for (std::size_t i = 0; i < x.size(); ++i)
            y[i] = static_cast<float>((static_cast<double>(x[i]) - centre) * to_one * static_cast<double>(gain[i]));
        return;
    }
    for (std::size_t i = 0; i < x.size(); ++i)
        y[i] = static_cast<float>((static_cast<double>(x[i]) - centre) * to_one * static_cast<double>(gain[i]) +
                                  static_cast<double>(shift[i]));
}

void normalize_back(In grad, In gain, bool centred, double scale, Out y) {
    const double to_one = 1.0 / scale;
    const auto weighted = [&](std::size_t i) { return static_cast<double>(grad[i]) * static_cast<double>(gain[i]); };
    const double mean = centred ? vectors::added_up(grad.size(), weighted) / static_cast<double>(grad.size()) : 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>((weighted(i) - mean) * to_one);
}

double slope_along(In x, double centre, In grad, In gain) {
    return vectors::added_up(x.size(), [&](std::size_t i) {
        return static_cast<double>(grad[i]) * static_cast<double>(gain[i]) * (static_cast<double>(x[i]) - centre);
    });
}

void distances(In x, double centre, double factor, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>((static_cast<double>(x[i]) - centre) * factor);
}

void add_distances(In x, double centre, double factor, In grad, std::span<double> sums) {
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<double>(grad[i]) * ((static_cast<double>(x[i]) - centre) * factor);
}

void add_columns(In x, std::span<double> sums) {
    for (std::size_t row = 0; row < x.size(); row += sums.size())
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(x[row + i]);
}

void keep_part(In x, std::size_t first, std::size_t end, float value, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = i >= first && i < end ? x[i] : value;
}

void add(In a, In b, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
}

void relu(In x, Out y) {
    // NaN is not ≤ 0, so it stays.
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = !(x[i] <= 0.0F) ? x[i] : 0.0F;
}

void relu_back(In x, In grad, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] <= 0.0F ? 0.0F : grad[i];
}

void gelu(In x, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        y[i] = static_cast<float>(value * normal_share(value));
    }
}

// ½ (1 + tanh u) is 1 / (1 + exp(−2u)).
void gelu_tanh(In x, Out y) {
    const double slope = 2.0 * std::sqrt(2.0 * std::numbers::inv_pi);
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        const double twice = slope * (value + 0.044715 * value * value * value);
        y[i] = static_cast<float>(value / (1.0 + exponential(-twice)));
    }
}

void silu(In x, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        y[i] = static_cast<float>(value / (1.0 + exponential(-value)));
    }
}

// act(x) = x · Φ(x), so act′(x) = Φ(x) + x · φ(x) with the normal distribution's density φ.
void gelu_back(In x, In grad, Out y) {
    const double height = std::numbers::inv_sqrtpi / std::numbers::sqrt2;  // φ(0)
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        const double slope = normal_share(value) + value * height * exponential(-0.5 * value * value);
        y[i] = static_cast<float>(static_cast<double>(grad[i]) * slope);
    }
}

// act(x) = x · s with s = 1 / (1 + exp(−2u)), and s′ = 2 s (1 − s) u′.
void gelu_tanh_back(In x, In grad, Out y) {
    const double slope = 2.0 * std::sqrt(2.0 * std::numbers::inv_pi);
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        const double square = 0.044715 * value * value;
        const double share = 1.0 / (1.0 + exponential(-slope * value * (1.0 + square)));
        const double bend = value * share * (1.0 - share) * slope * (1.0 + 3.0 * square);
        y[i] = static_cast<float>(static_cast<double>(grad[i]) * (share + bend));
    }
}

void silu_back(In x, In grad, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        const double share = 1.0 / (1.0 + exponential(-value));
        y[i] = static_cast<float>(static_cast<double>(grad[i]) * share * (1.0 + value * (1.0 - share)));
    }
}

void multiply(In a, In b, Out y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] * b[i];
}

}  // namespace any_cpu

}  // namespace

double sum(In x) { return on_this_cpu<any_cpu::sum>(x); }
double squares(In x, double centre) { return on_this_cpu<any_cpu::squares>(x, centre); }
void softmax(In x, std::size_t width, Out y) { on_this_cpu<any_cpu::softmax>(x, width, y); }
void softmax_back(In y, In grad, std::size_t width, Out x) { on_this_cpu<any_cpu::softmax_back>(y, grad, width, x); }
double entropy(In x) { return on_this_cpu<any_cpu::entropy>(x); }
double log_sum_exp(In x) { return on_this_cpu<any_cpu::log_sum_exp>(x); }
void exponentials(In x, double shift, double factor, Out y) { on_this_cpu<any_cpu::exponentials>(x, shift, factor, y); }
void sines_and_cosines(In angles, Out sines, Out cosines) {
    on_this_cpu<any_cpu::sines_and_cosines>(angles, sines, cosines);
    for (std::size_t i = 0; i < angles.size(); ++i) {
        if (std::abs(angles[i]) <= vectors::kFarthestAngle) continue;
        sines[i] = std::sin(angles[i]);
        cosines[i] = std::cos(angles[i]);
    }
}
void normalize(In x, double centre, double scale, In gain, In shift, Arithmetic row_as, Out y) {
    if (row_as == Arithmetic::float32) return on_this_cpu<any_cpu::normalize>(x, centre, scale, gain, shift, y);
    distances(x, centre, 1.0 / scale, y);
    round_all(y, row_as);
    multiply(y, gain, y);
    if (!shift.empty()) add(y, shift, y);
}
void normalize_back(In grad, In gain, bool centred, double scale, Out y) {
    on_this_cpu<any_cpu::normalize_back>(grad, gain, centred, scale, y);
}
double slope_along(In x, double centre, In grad, In gain) {
    return on_this_cpu<any_cpu::slope_along>(x, centre, grad, gain);
}
void distances(In x, double centre, double factor, Out y) { on_this_cpu<any_cpu::distances>(x, centre, factor, y); }
void add_distances(In x, double centre, double factor, In grad, std::span<double> sums) {
    on_this_cpu<any_cpu::add_distances>(x, centre, factor, grad, sums);
}
void add_columns(In x, std::span<double> sums) { on_this_cpu<any_cpu::add_columns>(x, sums); }
void keep_part(In x, std::size_t first, std::size_t end, float value, Out y) {
    on_this_cpu<any_cpu::keep_part>(x, first, end, value, y);
}
void add(In a, In b, Out y) { on_this_cpu<any_cpu::add>(a, b, y); }
void relu(In x, Out y) { on_this_cpu<any_cpu::relu>(x, y); }
void relu_back(In x, In grad, Out y) { on_this_cpu<any_cpu::relu_back>(x, grad, y); }
void gelu(In x, Out y) { on_this_cpu<any_cpu::gelu>(x, y); }
void gelu_tanh(In x, Out y) { on_this_cpu<any_cpu::gelu_tanh>(x, y); }
void silu(In x, Out y) { on_this_cpu<any_cpu::silu>(x, y); }
void gelu_back(In x, In grad, Out y) { on_this_cpu<any_cpu::gelu_back>(x, grad, y); }
void gelu_tanh_back(In x, In grad, Out y) { on_this_cpu<any_cpu::gelu_tanh_back>(x, grad, y); }
void silu_back(In x, In grad, Out y) { on_this_cpu<any_cpu::silu_back>(x, grad, y); }
void multiply(In a, In b, Out y) { on_this_cpu<any_cpu::multiply>(a, b, y); }

}  // namespace decoderscope::row
