#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace decoderscope {

// The kinds of numbers in files, by safetensors' names for them, and how they become floats.
struct Dtype {
    std::string_view name;  // "F32", "BF16", "I64", …
    std::size_t bytes;      // of one number
    // As many numbers as `to` has, from these bytes of any alignment. Narrower floats, NaN included, keep their value;
    // wider numbers are rounded to the nearest float.
    void (*convert)(const char* from, std::span<float> to);
};

// nullptr for a type that safetensors doesn't have.
[[nodiscard]] const Dtype* dtype_named(std::string_view name);

// One stored number, whatever its alignment.
template <class T>
[[nodiscard]] T stored(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace decoderscope
