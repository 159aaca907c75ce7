// Numbers of other kinds become floats: each of the 65,536 patterns of 16 bits against what IEEE 754 and bfloat16 say
// that its sign, exponent and fraction are worth.
#include "engine/files/stored_numbers.h"
#include "tests/catch.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace decoderscope;

namespace {

// All of a dtype's numbers, as the float's bits.
std::vector<std::uint32_t> all_of(std::string_view dtype) {
    std::vector<std::uint16_t> patterns(65536);
    for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
    std::vector<float> values(patterns.size());
    dtype_named(dtype)->convert(reinterpret_cast<const char*>(patterns.data()), values);
    std::vector<std::uint32_t> bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
}

// The float of a number of this many bits of exponent and fraction. A NaN keeps its sign and, in the first bits, its
// fraction.
std::uint32_t expected(std::uint32_t pattern, int exponent_bits, int fraction_bits) {
    const std::uint32_t sign = pattern >> 15U << 31U;
    const int exponent = static_cast<int>(pattern >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = static_cast<int>(pattern) & ((1 << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == (1 << exponent_bits) - 1)
        return sign | 0x7f800000U | static_cast<std::uint32_t>(fraction) << (23 - fraction_bits);
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
}

float one(std::string_view dtype, auto stored_as) {
    float value = 0;
    dtype_named(dtype)->convert(reinterpret_cast<const char*>(&stored_as), {&value, 1});
    return value;
}

}  // namespace

TEST_CASE("every half and every bfloat16 becomes exactly the float that it is worth, NaN included") {
    const std::vector<std::uint32_t> halves = all_of("F16"), brains = all_of("BF16");
    std::uint32_t wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        if (halves[pattern] != expected(pattern, 5, 10)) ++wrong;
        if (brains[pattern] != expected(pattern, 8, 7)) ++wrong;
    }
    CHECK(wrong == 0);
    // Some of them by hand.
    CHECK(one("F16", std::uint16_t{0x3c00}) == 1.0F);
    CHECK(one("F16", std::uint16_t{0x7bff}) == 65504.0F);
    CHECK(one("F16", std::uint16_t{0x0001}) == 0x1p-24F);
    CHECK(std::isnan(one("F16", std::uint16_t{0x7c01})));
    CHECK(one("BF16", std::uint16_t{0xc000}) == -2.0F);
    CHECK(one("BF16", std::uint16_t{0x0001}) == 0x1p-133F);
    CHECK(one("BF16", std::uint16_t{0xff80}) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("numbers of 8 bits, wider floats and integers are converted") {
    CHECK(one("F8_E4M3", std::uint8_t{0x7e}) == 448.0F);
    CHECK(one("F8_E4M3", std::uint8_t{0x81}) == -0x1p-9F);
    CHECK(std::isnan(one("F8_E4M3", std::uint8_t{0x7f})));
    CHECK(one("F8_E5M2", std::uint8_t{0x7b}) == 57344.0F);
    CHECK(one("F8_E5M2", std::uint8_t{0xfc}) == -std::numeric_limits<float>::infinity());
    CHECK(one("F64", 0.1) == 0.1F);
    CHECK(one("I64", std::int64_t{-5}) == -5.0F);
    CHECK(one("U8", std::uint8_t{255}) == 255.0F);
    CHECK(one("BOOL", std::uint8_t{1}) == 1.0F);
}

TEST_CASE("numbers are read at any address") {
    const std::vector<char> bytes = {0, 0x00, 0x3c, 0x00, static_cast<char>(0xc0)};
    std::vector<float> values(2);
    dtype_named("F16")->convert(bytes.data() + 1, values);
    CHECK(values == std::vector<float>{1, -2});
}

TEST_CASE("the sizes of safetensors' dtypes") {
    CHECK(dtype_named("F64")->bytes == 8);
    CHECK(dtype_named("BF16")->bytes == 2);
    CHECK(dtype_named("F8_E4M3")->bytes == 1);
    CHECK(dtype_named("I32")->bytes == 4);
    CHECK(dtype_named("F4") == nullptr);
    CHECK(dtype_named("") == nullptr);
}
