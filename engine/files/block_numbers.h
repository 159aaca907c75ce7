#pragma once

#include "engine/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// The types of numbers in GGUF files: numbers in blocks of 1, 32 or 256, each with its scales.
namespace decoderscope::packed {

// What a number was expanded from: number · scale − less.
struct StoredNumber {
    float number = 0.0F, scale = 1.0F;
    float less = 0.0F;

    [[nodiscard]] float value() const { return number * scale - less; }
};

struct BlockType {
    std::uint32_t number;   // in the file
    std::string_view name;  // "Q4_K"
    Index numbers;          // in a block
    Index bytes;            // of a block
    void (*expand)(const char* block, float* to);
    StoredNumber (*stored)(const char* block, int at);  // nullptr for numbers without a scale
};

// nullptr for a type that is not read.
[[nodiscard]] const BlockType* block_type(std::uint32_t number);

// "F32, F16, …": those that are read, for messages.
[[nodiscard]] std::string block_type_names();

// Expands whole blocks to the numbers that they stand for, bit for bit as ggml does.
void expand_blocks(const BlockType& type, std::span<const char> blocks, std::span<float> to);

// How many of the numbers that blocks with scales stand for are NaN or infinite; only the scales are read if these are
// of an ordinary size.
[[nodiscard]] std::size_t count_non_finite(const BlockType& type, std::span<const char> blocks);

}  // namespace decoderscope::packed
