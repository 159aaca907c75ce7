#include "engine/files/block_numbers.h"

#include "engine/base/error.h"
#include "engine/files/packed_numbers.h"
#include "engine/files/stored_numbers.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace decoderscope::packed {

namespace {

using Byte = std::uint8_t;

Byte byte(const char* block, int at) { return static_cast<Byte>(block[at]); }
float half(const char* block, int at) { return static_cast<float>(stored<Eigen::half>(block + at)); }

template <class T>
void one(const char* block, float* to) {
    *to = static_cast<float>(stored<T>(block));
}

// ---- blocks of 32

// d, then 32 whole numbers.
void q8_0(const char* block, float* to) {
    const float d = half(block, 0);
    for (int i = 0; i < 32; ++i) to[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * d;
}

// d, then 16 bytes: their lower halves are the first 16 numbers, the upper ones the others.
void q4_0(const char* block, float* to) {
    const float d = half(block, 0);
    for (int i = 0; i < 16; ++i) {
        to[i] = static_cast<float>((byte(block, 2 + i) & 15) - 8) * d;
        to[16 + i] = static_cast<float>((byte(block, 2 + i) >> 4) - 8) * d;
    }
}

StoredNumber stored_q8_0(const char* block, int at) {
    return {static_cast<float>(static_cast<std::int8_t>(block[2 + at])), half(block, 0)};
}

// The half of a byte in which one of 32 numbers is; the bytes begin at `codes`.
int half_byte(const char* block, int codes, int at) {
    const int both = byte(block, codes + at % 16);
    return at < 16 ? both & 15 : both >> 4;
}

StoredNumber stored_q4_0(const char* block, int at) {
    return {static_cast<float>(half_byte(block, 2, at) - 8), half(block, 0)};
}

StoredNumber stored_mxfp4(const char* block, int at) {
    return {fp4(static_cast<unsigned>(half_byte(block, 1, at))), power_of_two(byte(block, 0))};
}

// A byte of scale, then halves as in Q4_0.
void mxfp4(const char* block, float* to) {
    const float scale = power_of_two(byte(block, 0));
    for (int i = 0; i < 16; ++i) {
        to[i] = fp4(byte(block, 1 + i) & 15U) * scale;
        to[16 + i] = fp4(byte(block, 1 + i) >> 4U) * scale;
    }
}

// ---- blocks of 256

struct ScaleAndMin {
    float scale, min;
};

// The scale and the minimum, of 6 bits each, of one of eight runs; the last four borrow two bits from the first ones'
// bytes.
ScaleAndMin of_run(const char* twelve, int run) {
    const auto at = [&](int i) { return static_cast<int>(byte(twelve, i)); };
    if (run < 4) return {static_cast<float>(at(run) & 63), static_cast<float>(at(run + 4) & 63)};
    const int scale = (at(run + 4) & 15) | (at(run - 4) >> 6 << 4), min = (at(run + 4) >> 4) | (at(run) >> 6 << 4);
    return {static_cast<float>(scale), static_cast<float>(min)};
}

// d · scale · q − dmin · min for eight runs of 32; `codes` are 4 bits each, two runs in 32 bytes; `fifth` has a fifth
// bit of each, or is nullptr.
void with_minima(const char* block, const char* fifth, const char* codes, float* to) {
    const float d = half(block, 0), dmin = half(block, 2);
    for (int run = 0; run < 8; ++run) {
        const auto [scale, min] = of_run(block + 4, run);
        const float by = d * scale, less = dmin * min;
        for (int i = 0; i < 32; ++i) {
            const int both = byte(codes, run / 2 * 32 + i);
            int code = run % 2 == 0 ? both & 15 : both >> 4;
            if (fifth != nullptr) code |= (byte(fifth, i) >> run & 1) << 4;
            to[run * 32 + i] = by * static_cast<float>(code) - less;
        }
    }
}

StoredNumber stored_with_minimum(const char* block, const char* fifth, const char* codes, int at) {
    const int run = at / 32, i = at % 32;
    const auto [scale, min] = of_run(block + 4, run);
    const int both = byte(codes, run / 2 * 32 + i);
    int code = run % 2 == 0 ? both & 15 : both >> 4;
    if (fifth != nullptr) code |= (byte(fifth, i) >> run & 1) << 4;
    return {static_cast<float>(code), half(block, 0) * scale, half(block, 2) * min};
}

StoredNumber stored_q4_k(const char* block, int at) { return stored_with_minimum(block, nullptr, block + 16, at); }
StoredNumber stored_q5_k(const char* block, int at) { return stored_with_minimum(block, block + 16, block + 48, at); }

void q4_k(const char* block, float* to) { with_minima(block, nullptr, block + 16, to); }
void q5_k(const char* block, float* to) { with_minima(block, block + 16, block + 48, to); }

// Two halves of 128 numbers, each with 64 bytes of lower 4 bits, 32 of upper 2 bits and 8 scales, one for 16 numbers.
void q6_k(const char* block, float* to) {
    const float d = half(block, 208);
    for (int part = 0; part < 2; ++part)
        for (int quarter = 0; quarter < 4; ++quarter)
            for (int i = 0; i < 32; ++i) {
                const int low = byte(block, part * 64 + quarter % 2 * 32 + i);
                const int four = quarter < 2 ? low & 15 : low >> 4;
                const int two = byte(block, 128 + part * 32 + i) >> (2 * quarter) & 3;
                const auto scale = static_cast<std::int8_t>(block[192 + part * 8 + quarter * 2 + i / 16]);
                to[part * 128 + quarter * 32 + i] =
                    d * static_cast<float>(scale) * static_cast<float>((four | two << 4) - 32);
            }
}

StoredNumber stored_q6_k(const char* block, int at) {
    const int part = at / 128, quarter = at % 128 / 32, i = at % 32;
    const int low = byte(block, part * 64 + quarter % 2 * 32 + i);
    const int four = quarter < 2 ? low & 15 : low >> 4;
    const int two = byte(block, 128 + part * 32 + i) >> (2 * quarter) & 3;
    const auto scale = static_cast<std::int8_t>(block[192 + part * 8 + quarter * 2 + i / 16]);
    return {static_cast<float>((four | two << 4) - 32), half(block, 208) * static_cast<float>(scale)};
}

constexpr BlockType kTypes[] = {
    {0, "F32", 1, 4, one<float>, nullptr},
    {1, "F16", 1, 2, one<Eigen::half>, nullptr},
    {30, "BF16", 1, 2, one<Eigen::bfloat16>, nullptr},
    {2, "Q4_0", 32, 18, q4_0, stored_q4_0},
    {8, "Q8_0", 32, 34, q8_0, stored_q8_0},
    {12, "Q4_K", 256, 144, q4_k, stored_q4_k},
    {13, "Q5_K", 256, 176, q5_k, stored_q5_k},
    {14, "Q6_K", 256, 210, q6_k, stored_q6_k},
    {39, "MXFP4", 32, 17, mxfp4, stored_mxfp4},
};

}  // namespace

const BlockType* block_type(std::uint32_t number) {
    const auto found = std::ranges::find(kTypes, number, &BlockType::number);
    return found == std::end(kTypes) ? nullptr : found;
}

std::string block_type_names() {
    std::string names;
    for (const BlockType& type : kTypes) names += (names.empty() ? "" : ", ") + std::string(type.name);
    return names;
}

void expand_blocks(const BlockType& type, std::span<const char> blocks, std::span<float> to) {
    const auto bytes = static_cast<std::size_t>(type.bytes), numbers = static_cast<std::size_t>(type.numbers);
    for (std::size_t block = 0; block * bytes < blocks.size(); ++block)
        type.expand(blocks.data() + block * bytes, to.data() + block * numbers);
}

std::size_t count_non_finite(const BlockType& type, std::span<const char> blocks) {
    constexpr int kOfOneScale = 16;  // numbers that have it in common, in every type
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < blocks.size(); begin += static_cast<std::size_t>(type.bytes))
        for (int at = 0; at < static_cast<int>(type.numbers); at += kOfOneScale) {
            const char* block = blocks.data() + begin;
            const StoredNumber first = type.stored(block, at);
            if (std::abs(first.scale) < kOrdinaryScale && std::abs(first.less) < kOrdinaryScale) continue;
            for (int i = at; i < at + kOfOneScale; ++i) count += std::isfinite(type.stored(block, i).value()) ? 0 : 1;
        }
    return count;
}

}  // namespace decoderscope::packed
