#pragma once

#include "engine/tensor/arithmetic.h"

#include <span>

// Arithmetic on one row of numbers, using the vector instructions of the current CPU. Sums are computed in double, in
// an order that depends only on the row's length, so every CPU gives the same bits.
namespace decoderscope::row {

using In = std::span<const float>;
using Out = std::span<float>;

[[nodiscard]] double sum(In x);
// Σ (x − centre)²
[[nodiscard]] double squares(In x, double centre);

// Each row of `width` numbers: y = exp(x − the row's highest) / Σ exp(…), with exponentials accurate to a float's last
// digit, exactly 0 for −∞. x may be y.
void softmax(In x, std::size_t width, Out y);
// The backward pass of softmax, row by row: x = y · (grad − Σ grad · y)
void softmax_back(In y, In grad, std::size_t width, Out x);
// log Σ exp(x), without overflow; NaN if x has one, or no highest number
[[nodiscard]] double log_sum_exp(In x);
// −Σ x log₂ x of a distribution, in bits; NaN if x has one
[[nodiscard]] double entropy(In x);
// y = factor · exp(x − shift)
void exponentials(In x, double shift, double factor, Out y);
// The sine and cosine of each angle, in radians; NaN if it isn't finite. Neither may be the angles' own row.
void sines_and_cosines(In angles, Out sines, Out cosines);
// y = (x − centre) / scale · gain (+ shift, if any); (x − centre) / scale is rounded to `row_as` before the gain.
void normalize(In x, double centre, double scale, In gain, In shift, Arithmetic row_as, Out y);
// y = (grad · gain, less its mean if `centred`) / scale
void normalize_back(In grad, In gain, bool centred, double scale, Out y);
// Σ grad · gain · (x − centre)
[[nodiscard]] double slope_along(In x, double centre, In grad, In gain);
// y = factor · (x − centre)
void distances(In x, double centre, double factor, Out y);
// sums += factor · (x − centre) · grad
void add_distances(In x, double centre, double factor, In grad, std::span<double> sums);
// sums += each row of x, which are as long as sums
void add_columns(In x, std::span<double> sums);
// y = x from `first` to before `end`, elsewhere the value
void keep_part(In x, std::size_t first, std::size_t end, float value, Out y);
// y = a + b
void add(In a, In b, Out y);

// y = act(x); ops/activation.h defines the activations.
void relu(In x, Out y);
void gelu(In x, Out y);
void gelu_tanh(In x, Out y);
void silu(In x, Out y);
// y = grad · act′(x); 0 where act′ is 0, whatever grad is
void relu_back(In x, In grad, Out y);
// y = grad · act′(x)
void gelu_back(In x, In grad, Out y);
void gelu_tanh_back(In x, In grad, Out y);
void silu_back(In x, In grad, Out y);
// y = a · b
void multiply(In a, In b, Out y);

}  // namespace decoderscope::row
