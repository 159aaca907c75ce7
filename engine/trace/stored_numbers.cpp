#include "engine/lazy.h"
#include "engine/trace/sources.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace decoderscope::trace_sources {

namespace {

template <class T>
T stored(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

float from_half(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t moved = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
    const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(moved) * 0x1p112F);
    const std::uint32_t magnitude = (bits & 0x7c00U) == 0x7c00U ? moved | 0x7f800000U : finite;
    return std::bit_cast<float>(magnitude | sign);
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// 4 bits of exponent, 3 of fraction, no infinity (Micikevicius et al. 2022).
float from_e4m3(std::uint8_t bits) {
    const int exponent = (bits >> 3) & 15, fraction = bits & 7;
    if (exponent == 15 && fraction == 7) return std::numeric_limits<float>::quiet_NaN();
    const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                          : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
    return (bits & 0x80U) != 0 ? -magnitude : magnitude;
}

// The upper half of a half.
float from_e5m2(std::uint8_t bits) { return from_half(static_cast<std::uint16_t>(bits << 8)); }

using Convert = float (*)(const char*);

struct Type {
    std::string_view name;
    std::size_t bytes;
    Convert convert;
};

template <class T>
constexpr Type number(std::string_view name) {
    return {name, sizeof(T), [](const char* at) { return static_cast<float>(stored<T>(at)); }};
}

const Type* type_of(std::string_view dtype) {
    static constexpr Type types[] = {
        number<float>("F32"),
        number<double>("F64"),
        {"F16", 2, [](const char* at) { return from_half(stored<std::uint16_t>(at)); }},
        {"BF16", 2, [](const char* at) { return from_bfloat(stored<std::uint16_t>(at)); }},
        {"F8_E4M3", 1, [](const char* at) { return from_e4m3(stored<std::uint8_t>(at)); }},
        {"F8_E5M2", 1, [](const char* at) { return from_e5m2(stored<std::uint8_t>(at)); }},
        number<std::int64_t>("I64"),
        number<std::int32_t>("I32"),
        number<std::int16_t>("I16"),
        number<std::int8_t>("I8"),
        number<std::uint64_t>("U64"),
        number<std::uint32_t>("U32"),
        number<std::uint16_t>("U16"),
        number<std::uint8_t>("U8"),
        number<std::uint8_t>("BOOL"),
    };
    for (const Type& type : types)
        if (type.name == dtype) return &type;
    return nullptr;
}

// Stored numbers that become floats when they are read, any row by itself.
class StoredNumbers : public LazyRows {
public:
    StoredNumbers(Bytes bytes, const Type& type, Index width) : bytes_(std::move(bytes)), type_(type), width_(width) {}

    void make(std::span<float> values) const override { convert(0, values); }
    void rows(Index begin, Index end, std::span<float> values) const override {
        convert(begin * width_, values.first(static_cast<std::size_t>((end - begin) * width_)));
    }
    [[nodiscard]] Index finite_at_most(Index) const override { return width_; }
    [[nodiscard]] std::span<const float> in_place(Index) const override { return {}; }

private:
    void convert(Index first, std::span<float> values) const {
        const char* at = bytes_.first.get() + static_cast<std::size_t>(first) * type_.bytes;
        for (float& value : values) {
            value = type_.convert(at);
            at += type_.bytes;
        }
    }

    Bytes bytes_;
    const Type& type_;
    Index width_;
};

}  // namespace

std::size_t bytes_of_dtype(std::string_view dtype) {
    const Type* type = type_of(dtype);
    return type == nullptr ? 0 : type->bytes;
}

Tensor stored_tensor(const Bytes& bytes, std::string_view dtype, const std::vector<Index>& shape) {
    const Type* type = type_of(dtype);
    if (type == nullptr) return {};
    const Axes axes = unnamed(shape);
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.first.get()) % alignof(float) == 0;
    if (dtype == "F32" && aligned) {
        const std::shared_ptr<const float> first(bytes.first, reinterpret_cast<const float*>(bytes.first.get()));
        if (bytes.descriptor == nullptr) return {axes, first};
        return {axes, FileValues{first, bytes.descriptor, static_cast<std::int64_t>(bytes.offset)}};
    }
    const Index width = shape.empty() ? 1 : shape.back();
    return {axes, std::make_shared<const StoredNumbers>(bytes, *type, width)};
}

}  // namespace decoderscope::trace_sources
