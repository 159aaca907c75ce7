#pragma once

#include <cstdint>
#include <string_view>

namespace decoderscope {

// Random numbers that are the same on every machine and compiler (the standard library's distributions are not), and
// that can be drawn in any order: the number at (seed, stream, index) is a hash of the three. A tensor's values
// therefore depend only on its name and the seed, not on which other tensors exist. tests/reference/ computes the same
// numbers in Python.
class RandomStream {
public:
    // `stream` is a name, usually a tensor's.
    RandomStream(std::uint64_t seed, std::string_view stream);

    // 64 random bits for `index`: SplitMix64's output function (Steele, Lea & Flood 2014) over a Weyl sequence.
    [[nodiscard]] std::uint64_t bits(std::uint64_t index) const;

    // Uniform on [0, 1), a multiple of 2⁻⁵³.
    [[nodiscard]] double uniform(std::uint64_t index) const;

    // Normal with mean 0 and variance 1, by Marsaglia's polar method (1964).
    [[nodiscard]] double normal(std::uint64_t index) const;

private:
    std::uint64_t key_;
};

// The natural logarithm of a positive, finite number to about 1e-15, using only IEEE additions, products and quotients:
// the math library's differs in the last bit from machine to machine.
[[nodiscard]] double portable_log(double x);

}  // namespace decoderscope
