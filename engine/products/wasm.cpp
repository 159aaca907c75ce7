// Products by WebAssembly's vectors of four numbers. Eigen has no backend for them, and the compiler's own vectors are
// a third as fast.
//
// Eight columns of the result are computed at a time, for four rows at once: 8 vectors hold the sums while b's panel
// [k, 8] passes. Every number is summed in the order of k, so a row doesn't depend on the rows beside it.
#include "engine/products/plain.h"

#include <wasm_simd128.h>

#include <algorithm>
#include <array>
#include <vector>

namespace decoderscope::products::plain_products {

namespace {

constexpr Index kWidth = 8;  // columns of a panel: two vectors
constexpr Index kRows = 4;   // rows at once

// Some columns of b: k rows of eight numbers, `stride` apart.
struct Panel {
    const float* data;
    Index k, stride;
};

void store(v128_t low, v128_t high, float* out, Index columns) {
    if (columns == kWidth) {
        wasm_v128_store(out, low);
        wasm_v128_store(out + 4, high);
        return;
    }
    std::array<float, kWidth> all;
    wasm_v128_store(all.data(), low);
    wasm_v128_store(all.data() + 4, high);
    std::copy_n(all.data(), columns, out);
}

// out [Rows, columns] = scale · a [Rows, k] · panel [k, columns]
template <std::size_t Rows>
void multiply_rows(const float* a, Index a_stride, const Panel& panel, float scale, float* out, Index out_stride,
                   Index columns) {
    std::array<v128_t, Rows> low, high;
    low.fill(wasm_f32x4_const_splat(0.0F));
    high.fill(wasm_f32x4_const_splat(0.0F));
    const float* b = panel.data;
    for (Index i = 0; i < panel.k; ++i, b += panel.stride) {
        const v128_t b_low = wasm_v128_load(b), b_high = wasm_v128_load(b + 4);
        for (std::size_t r = 0; r < Rows; ++r) {
            const v128_t factor = wasm_v128_load32_splat(a + static_cast<Index>(r) * a_stride + i);
            low[r] = wasm_f32x4_add(low[r], wasm_f32x4_mul(factor, b_low));
            high[r] = wasm_f32x4_add(high[r], wasm_f32x4_mul(factor, b_high));
        }
    }
    const v128_t by = wasm_f32x4_splat(scale);
    for (std::size_t r = 0; r < Rows; ++r)
        store(wasm_f32x4_mul(low[r], by), wasm_f32x4_mul(high[r], by), out + static_cast<Index>(r) * out_stride,
              columns);
}

void multiply_panel(ConstMatrix a, const Panel& panel, float scale, Matrix out, Index first, Index columns) {
    Index row = 0;
    for (; row + kRows <= a.rows; row += kRows)
        multiply_rows<kRows>(a.data + row * a.stride, a.stride, panel, scale, out.data + row * out.stride + first,
                             out.stride, columns);
    for (; row < a.rows; ++row)
        multiply_rows<1>(a.data + row * a.stride, a.stride, panel, scale, out.data + row * out.stride + first,
                         out.stride, columns);
}

// Four numbers of each of four rows, as four columns.
void transpose_four(const float* rows, Index stride, float* out) {
    const v128_t a = wasm_v128_load(rows), b = wasm_v128_load(rows + stride), c = wasm_v128_load(rows + 2 * stride),
                 d = wasm_v128_load(rows + 3 * stride);
    const v128_t ab = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), cd = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5);
    const v128_t ab_rest = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7), cd_rest = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
    wasm_v128_store(out, wasm_i64x2_shuffle(ab, cd, 0, 2));
    wasm_v128_store(out + kWidth, wasm_i64x2_shuffle(ab, cd, 1, 3));
    wasm_v128_store(out + 2 * kWidth, wasm_i64x2_shuffle(ab_rest, cd_rest, 0, 2));
    wasm_v128_store(out + 3 * kWidth, wasm_i64x2_shuffle(ab_rest, cd_rest, 1, 3));
}

// Rows of b [n, k] as the columns of a panel [k, 8]; columns that b doesn't have stay as they are.
void transpose_rows(ConstMatrix b, Index first, Index columns, std::vector<float>& panel) {
    const float* rows = b.data + first * b.stride;
    Index i = 0;
    if (columns == kWidth)
        for (; i + 4 <= b.columns; i += 4) {
            transpose_four(rows + i, b.stride, panel.data() + i * kWidth);
            transpose_four(rows + 4 * b.stride + i, b.stride, panel.data() + i * kWidth + 4);
        }
    for (; i < b.columns; ++i)
        for (Index c = 0; c < columns; ++c) panel[static_cast<std::size_t>(i * kWidth + c)] = rows[c * b.stride + i];
}

}  // namespace

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale) {
    std::vector<float> panel(static_cast<std::size_t>(a.columns * kWidth));
    for (Index first = 0; first < out.columns; first += kWidth) {
        const Index columns = std::min(kWidth, out.columns - first);
        transpose_rows(b, first, columns, panel);
        multiply_panel(a, {panel.data(), a.columns, kWidth}, scale, out, first, columns);
    }
}

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) {
    Index first = 0;
    for (; first + kWidth <= out.columns; first += kWidth)
        multiply_panel(a, {b.data + first, a.columns, b.stride}, 1.0F, out, first, kWidth);
    if (first == out.columns) return;
    // The last columns, with room for a whole panel.
    const Index columns = out.columns - first;
    std::vector<float> panel(static_cast<std::size_t>(a.columns * kWidth));
    for (Index i = 0; i < a.columns; ++i)
        std::copy_n(b.data + i * b.stride + first, columns, &panel[static_cast<std::size_t>(i * kWidth)]);
    multiply_panel(a, {panel.data(), a.columns, kWidth}, 1.0F, out, first, columns);
}

bool rows_stand_alone() { return true; }
std::string version() { return "WebAssembly SIMD"; }

}  // namespace decoderscope::products::plain_products
