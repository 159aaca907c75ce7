#include "engine/files/stored_numbers.h"

#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace decoderscope {

namespace {

static_assert(std::endian::native == std::endian::little, "safetensors and NumPy's files are little-endian");

// 4 bits of exponent, 3 of fraction, no infinity (Micikevicius et al. 2022). Eigen 3.4 has no numbers of 8 bits.
struct E4m3 {
    std::uint8_t bits;

    explicit operator float() const {
        const int exponent = (bits >> 3) & 15, fraction = bits & 7;
        if (exponent == 15 && fraction == 7) return std::numeric_limits<float>::quiet_NaN();
        const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                              : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
        return (bits & 0x80U) != 0 ? -magnitude : magnitude;
    }
};

// The upper byte of a half.
struct E5m2 {
    std::uint8_t bits;

    explicit operator float() const {
        return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(bits << 8)));
    }
};

template <class T>
void convert(const char* from, std::span<float> to) {
    for (float& value : to) {
        value = static_cast<float>(stored<T>(from));
        from += sizeof(T);
    }
}

template <class T>
constexpr Dtype dtype(std::string_view name) {
    return {name, sizeof(T), convert<T>};
}

constexpr Dtype kDtypes[] = {
    dtype<float>("F32"),         dtype<double>("F64"),      dtype<Eigen::half>("F16"),   dtype<Eigen::bfloat16>("BF16"),
    dtype<E4m3>("F8_E4M3"),      dtype<E5m2>("F8_E5M2"),    dtype<std::int64_t>("I64"),  dtype<std::int32_t>("I32"),
    dtype<std::int16_t>("I16"),  dtype<std::int8_t>("I8"),  dtype<std::uint64_t>("U64"), dtype<std::uint32_t>("U32"),
    dtype<std::uint16_t>("U16"), dtype<std::uint8_t>("U8"), dtype<std::uint8_t>("BOOL"),
};

}  // namespace

const Dtype* dtype_named(std::string_view name) {
    const auto found = std::ranges::find(kDtypes, name, &Dtype::name);
    return found == std::end(kDtypes) ? nullptr : found;
}

}  // namespace decoderscope
