#pragma once

#include <span>

// What is done to one row of numbers, in vector instructions of the CPU that it runs on. Sums are added up in double,
// in an order that depends on the row's length alone: every CPU gives the same bits.
namespace decoderscope::row {

using In = std::span<const float>;
using Out = std::span<float>;

[[nodiscard]] double sum(In x);
// Σ (x − centre)²
[[nodiscard]] double squares(In x, double centre);

// Each row of `width` numbers: y = exp(x − the row's highest) / Σ exp(…), the exponentials to the last digit of a
// float, exactly 0 for −∞. x may be y.
void softmax(In x, std::size_t width, Out y);
// y = (x − centre) / scale · gain (+ shift, where there is one)
void normalize(In x, double centre, double scale, In gain, In shift, Out y);
// y = a + b
void add(In a, In b, Out y);

// y = act(x): what each activation is, see ops/activation.h.
void relu(In x, Out y);
void gelu(In x, Out y);
void gelu_tanh(In x, Out y);
void silu(In x, Out y);
// y = a · b
void multiply(In a, In b, Out y);

}  // namespace decoderscope::row
