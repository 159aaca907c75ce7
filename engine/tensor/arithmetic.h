#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace decoderscope {

class Tensor;

// The type in which a run keeps its numbers: what the result of each operation is rounded to, once, after it was
// computed in float32. bfloat16 is a float32 without its last 16 bits: 8 digits in base 2, and the same range. float16
// is IEEE 754's binary16: 11 digits, up to 65,504.
enum class Arithmetic : std::uint8_t { float32, bfloat16, float16 };
inline constexpr std::array<std::string_view, 3> kArithmetics = {"float32", "bfloat16", "float16"};

[[nodiscard]] inline std::string_view name_of(Arithmetic type) { return kArithmetics[static_cast<std::size_t>(type)]; }

// The nearest number that the type has, of two the even one: what PyTorch's Tensor.to(dtype) gives. What is too large
// becomes ∞, what is too small 0.
[[nodiscard]] float rounded(float x, Arithmetic to);
// As above, in place.
void round_all(std::span<float> numbers, Arithmetic to);
// As above, of a whole tensor; values that are computed when they are read are rounded then.
[[nodiscard]] Tensor rounded(Tensor tensor, Arithmetic to);
// As above, when they are first read. What may not stay in memory is rounded for each use.
[[nodiscard]] Tensor rounded_when_read(Tensor tensor, Arithmetic to);

// How far apart the type's numbers lie at x (unit in the last place): of ∞ and NaN it is NaN.
[[nodiscard]] double ulp_at(double x, Arithmetic type);

}  // namespace decoderscope
