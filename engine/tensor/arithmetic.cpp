#include "engine/tensor/arithmetic.h"

#include "engine/base/on_this_cpu.h"
#include "engine/base/parallel.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace decoderscope {

namespace {

// The following are inlined, without a branch, into what on_this_cpu calls.

// Adds half of what is cut off, or a little less if the last digit that stays is even, and cuts. NaN stays NaN.
[[gnu::always_inline]] inline float to_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t cut = (bits + 0x7FFFU + ((bits >> 16) & 1U)) & 0xFFFF0000U;
    return std::bit_cast<float>((bits & 0x7FFFFFFFU) > 0x7F800000U ? bits : cut);
}

// Below 2^-14 all numbers of float16 lie 2^-24 apart, as the float32 do at ½: added to that, they are rounded.
[[gnu::always_inline]] inline float to_float16(float x) {
    constexpr std::uint32_t kSmallest = 0x38800000U, kBeyond = 0x47800000U, kInfinite = 0x7F800000U;  // 2^-14, 2^16, ∞
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits & 0x80000000U, size = bits & 0x7FFFFFFFU;
    std::uint32_t cut = (size + 0xFFFU + ((size >> 13) & 1U)) & ~0x1FFFU;
    cut = cut >= kBeyond ? kInfinite : cut;
    const auto small = std::bit_cast<std::uint32_t>((std::bit_cast<float>(size) + 0.5F) - 0.5F);
    cut = size < kSmallest ? small : cut;
    cut = size > kInfinite ? size : cut;
    return std::bit_cast<float>(sign | cut);
}

void all_to_bfloat16(std::span<float> numbers) {
    for (float& x : numbers) x = to_bfloat16(x);
}
void all_to_float16(std::span<float> numbers) {
    for (float& x : numbers) x = to_float16(x);
}

constexpr Index kRoundingCost = 8;  // of one number, in multiply-adds

// Numbers that are computed, and rounded, when they are read.
class RoundedWhenRead : public LazyValues {
public:
    RoundedWhenRead(Tensor exact, Arithmetic to) : exact_(std::move(exact)), to_(to) {}
    void make(std::span<float> values) const override {
        const Tensor exact = exact_.for_one_use();
        std::ranges::copy(exact.values(), values.begin());
        round_all(values, to_);
    }
    [[nodiscard]] bool may_stay() const override { return exact_.may_stay(); }

private:
    Tensor exact_;
    Arithmetic to_;
};

}  // namespace

float rounded(float x, Arithmetic to) {
    return to == Arithmetic::float32 ? x : to == Arithmetic::bfloat16 ? to_bfloat16(x) : to_float16(x);
}

void round_all(std::span<float> numbers, Arithmetic to) {
    if (to == Arithmetic::float32) return;
    in_parallel(static_cast<Index>(numbers.size()), kRoundingCost, [&](Index begin, Index end) {
        const auto part = numbers.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        if (to == Arithmetic::bfloat16)
            on_this_cpu<all_to_bfloat16>(part);
        else
            on_this_cpu<all_to_float16>(part);
    });
}

Tensor rounded(Tensor tensor, Arithmetic to) {
    if (to == Arithmetic::float32 || tensor.empty()) return tensor;
    if (!tensor.is_ready()) return rounded_when_read(std::move(tensor), to);
    // What was only passed on is rounded already, and stays shared.
    const auto is_rounded = [to](float x) { return rounded(x, to) == x || std::isnan(x); };
    if (std::ranges::all_of(tensor.values(), is_rounded)) return tensor;
    round_all(tensor.writable(), to);
    return tensor;
}

Tensor rounded_when_read(Tensor tensor, Arithmetic to) {
    Axes axes = tensor.axes();
    return {std::move(axes), std::make_shared<const RoundedWhenRead>(std::move(tensor), to)};
}

double ulp_at(double x, Arithmetic type) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    const int digits = type == Arithmetic::float32 ? 24 : type == Arithmetic::bfloat16 ? 8 : 11;
    const int smallest = type == Arithmetic::float16 ? -24 : -149 + 24 - digits;  // of the numbers near 0
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0, x == 0.0 ? smallest : std::max(exponent - digits, smallest));
}

}  // namespace decoderscope
