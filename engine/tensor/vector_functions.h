#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

// Functions of one number without a branch, so that a loop over many is compiled to vector instructions; and a sum
// whose order doesn't depend on how wide these are. They are inlined into what on_this_cpu calls.
namespace decoderscope::vectors {

// Sums are kept in this many parts, whatever the width of the CPU's vectors.
constexpr std::size_t kLanes = 16;
using Lanes = std::array<double, kLanes>;

// Σ of(i) for this many i, part by part and then over the parts.
template <class Of>
[[gnu::always_inline]] inline double added_up(std::size_t count, const Of& of) {
    if (count < kLanes) {  // no part would have two values
        double sum = 0.0;
        for (std::size_t i = 0; i < count; ++i) sum += of(i);
        return sum;
    }
    Lanes lanes = {};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += of(i + l);
    for (std::size_t l = 0; i < count; ++i, ++l) lanes[l] += of(i);
    // Halves are added pairwise, because each addition in a chain waits for the one before it.
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
}

// The polynomial in x with these coefficients, the highest first.
template <class... Rest>
[[gnu::always_inline]] inline double polynomial(double x, double highest, Rest... rest) {
    ((highest = highest * x + rest), ...);
    return highest;
}

// Added to a small number, it leaves the nearest integer in the last bits.
constexpr double kToInteger = 0x1.8p52;

// e^x to 1 part in 10^11; beyond ±200 it is 0 or ∞, as it is as a float. `exactly`, to all digits of a double, up to
// ±708. x = n ln 2 + r with |r| ≤
// ½ ln 2, and e^x = 2^n e^r; 2^n is assembled from bits.
template <bool exactly = false>
inline double exponential(double of) {
    constexpr double kFarthest = exactly ? 708.0 : 200.0;
    constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
    double x = of < -kFarthest ? -kFarthest : of;
    x = x > kFarthest ? kFarthest : x;
    const double shifted = x * std::numbers::log2e + kToInteger;
    const double n = shifted - kToInteger;
    const double r = (x - n * kLn2High) - n * kLn2Low;
    double power = 1.0 / 362880.0;  // Taylor's series: 1/9!, 1/8!, …
    if constexpr (exactly)          // from 1/13! on
        power = polynomial(r, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, power);
    power = polynomial(r, power, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0,
                       1.0);
    const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) + 1023U;
    const double found = power * std::bit_cast<double>(exponent << 52U);
    const double not_below = of < -kFarthest ? 0.0 : found;
    return of > kFarthest ? std::numeric_limits<double>::infinity() : not_below;
}

struct Turn {
    double sine, cosine;
};

// The farthest angle whose quarters of a turn are counted exactly.
constexpr float kFarthestAngle = 1e6F;

// Sine and cosine to 1 part in 10^13, without a branch, up to the farthest angle. angle = n π/2 + r with |r| ≤ π/4; n
// turns r's sine and cosine into each other and changes their signs. π/2 is in two parts, of which n times the first is
// exact.
inline Turn turn(double angle) {
    constexpr double kQuarterHigh = 0x1.921fb544p0, kQuarterLow = 0x1.0b4611a626331p-34;
    const double shifted = angle * (2.0 * std::numbers::inv_pi) + kToInteger;
    const double n = shifted - kToInteger;
    const double r = (angle - n * kQuarterHigh) - n * kQuarterLow;
    const double square = r * r;
    // Taylor's series: 1/13!, −1/11!, … and −1/14!, 1/12!, …
    const double sine_by_cube = polynomial(square, 1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0,
                                           1.0 / 120.0, -1.0 / 6.0);
    const double sine = sine_by_cube * square * r + r;
    const double cosine = polynomial(square, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0,
                                     -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0);
    const auto quarters = std::bit_cast<std::uint64_t>(shifted);
    const bool odd = (quarters & 1U) != 0;
    const auto signed_by = [](double value, std::uint64_t half_turns) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (half_turns << 63U));
    };
    return {signed_by(odd ? cosine : sine, quarters >> 1U), signed_by(odd ? sine : cosine, (quarters + 1U) >> 1U)};
}

// erfc(z) · exp(z²) for 0 ≤ z ≤ 15, to 2 parts in 10^13: t = 2 / (2 + z) times a polynomial in t, fitted to the
// function at Chebyshev's points.
inline double scaled_erfc(double z) {
    const double t = 2.0 / (2.0 + z);
    const double u = t * 2.2666666666666666 - 1.2666666666666666;  // from −1 to 1
    return t * polynomial(u, 5.5072806577084934e-08, -9.827871271064819e-08, -3.2206203574957936e-07,
                          1.1301344049057193e-06, -1.2482289643405962e-07, -6.213875161674625e-06,
                          1.2562979086601483e-05, 1.6871786938395576e-05, -0.0001139571536959461, 4.618260857314806e-05,
                          0.000831472550435695, -0.001100329138082736, -0.007468035287555155, 0.008768343242597686,
                          0.11306500273577307, 0.33277328636832326, 0.5531741731393167);
}

// Φ(x) = ½ erfc(−x / √2), the share of a normal distribution below x.
template <bool exactly = false>
inline double normal_share(double x) {
    double z = x < 0.0 ? -x : x;
    z = z * (std::numbers::sqrt2 / 2.0);
    z = z > 15.0 ? 15.0 : z;
    const double beyond = 0.5 * scaled_erfc(z) * exponential<exactly>(-z * z);
    return x < 0.0 ? beyond : 1.0 - beyond;
}

// The error function: 2 Φ(x √2) − 1, and near 0, where that would cancel, its series.
inline double error_function(double x) {
    const double square = x * x;
    const double near =
        2.0 * std::numbers::inv_sqrtpi * x * polynomial(square, 1.0 / 216.0, -1.0 / 42.0, 1.0 / 10.0, -1.0 / 3.0, 1.0);
    const double far = 2.0 * normal_share<true>(x * std::numbers::sqrt2) - 1.0;
    return square < 0.01 ? near : far;
}

// tanh x = 1 − 2 / (e^2x + 1), and near 0 its series.
inline double hyperbolic_tangent(double x) {
    const double square = x * x;
    const double near = x * polynomial(square, 62.0 / 2835.0, -17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0);
    const double far = 1.0 - 2.0 / (exponential<true>(2.0 * x) + 1.0);
    return square < 0.0025 ? near : far;
}

// ln x: the exponent's part, and 2 artanh((m − 1) / (m + 1)) of what is left, m between √½ and √2.
inline double logarithm(double x) {
    const bool denormal = x < 0x1p-1022;
    const std::uint64_t shifted =
        std::bit_cast<std::uint64_t>(denormal ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdULL;  // √½
    const auto exponent = static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(shifted) >> 52)) -
                          (denormal ? 54.0 : 0.0);
    const double m = std::bit_cast<double>((shifted & 0xfffffffffffffULL) + 0x3fe6a09e667f3bcdULL);
    const double f = (m - 1.0) / (m + 1.0), square = f * f;
    const double series = polynomial(square, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0,
                                     2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0);
    const double found = exponent * std::numbers::ln2 + (2.0 * f + f * square * series);
    const double of_zero = x == 0.0 ? -std::numeric_limits<double>::infinity() : found;
    const double of_any = x >= 0.0 ? of_zero : std::numeric_limits<double>::quiet_NaN();
    return x > std::numeric_limits<double>::max() ? x : of_any;
}

}  // namespace decoderscope::vectors
