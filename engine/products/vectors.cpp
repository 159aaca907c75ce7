// Products by the vectors of the CPU that the program runs on. As many columns of the result as two vectors hold (four,
// if they are the narrowest) are computed at a time, for up to eight rows at once: the sums stay in registers while b's
// panel [k, columns] passes.
// Every number is summed in the order of k, so a row doesn't depend on the rows beside it.
//
// Compiled with contraction (engine/CMakeLists.txt): a multiply-add is one instruction if the CPU has it.
#include "engine/base/on_this_cpu.h"
#include "engine/products/plain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace decoderscope::products::plain_products {

namespace {

// Vectors of that many numbers. If the CPU has none that wide, the compiler makes them of narrower ones.
struct Four {
    static constexpr Index kWidth = 4;
    using Vector [[gnu::vector_size(16)]] = float;
};
struct Eight {
    static constexpr Index kWidth = 8;
    using Vector [[gnu::vector_size(32)]] = float;
};
struct Sixteen {
    static constexpr Index kWidth = 16;
    using Vector [[gnu::vector_size(64)]] = float;
};

constexpr Index kWidest = 2 * Sixteen::kWidth;  // of a panel

// The left factor: a number of row r is at data[r · row], the next one of that row `next` further on.
struct Rows {
    const float* data;
    Index count, row, next;

    [[nodiscard]] Rows from(Index first) const { return {data + first * row, count - first, row, next}; }
};

// Some columns of the right factor: k rows of them, `stride` apart. The result is scale · (start + Σ).
struct Panel {
    const float* data;
    Index k, stride;
    const float* start;  // a number for each column
    float scale;
};

// The functions from here on are inlined into one function for each kind of CPU, so that they are compiled for it.

template <class Vector>
[[gnu::always_inline]] inline void load(Vector& vector, const float* from) {
    std::memcpy(&vector, from, sizeof(Vector));
}

// Writes the first numbers, fewer than twice `most`: in powers of two, each by one instruction or two.
template <Index most>
[[gnu::always_inline]] inline void store(const float* numbers, Index count, float* to) {
    if ((count & most) != 0) {
        std::memcpy(to, numbers, most * sizeof(float));
        numbers += most;
        to += most;
    }
    if constexpr (most > 1) store<most / 2>(numbers, count, to);
}

// out [rows, columns] = scale · (start + a [rows, k] · panel [k, columns])
template <class Width, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void multiply_rows(const Rows& a, const Panel& panel, Matrix out) {
    using Vector = typename Width::Vector;
    constexpr Index kColumns = static_cast<Index>(vectors) * Width::kWidth;
    Vector sums[rows][vectors];
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t v = 0; v < vectors; ++v) load(sums[r][v], panel.start + static_cast<Index>(v) * Width::kWidth);
    const float* left = a.data;
    const float* right = panel.data;
    for (Index i = 0; i < panel.k; ++i, left += a.next, right += panel.stride) {
        Vector b[vectors];
        for (std::size_t v = 0; v < vectors; ++v) load(b[v], right + static_cast<Index>(v) * Width::kWidth);
        for (std::size_t r = 0; r < rows; ++r) {
            const float factor = left[static_cast<Index>(r) * a.row];
            for (std::size_t v = 0; v < vectors; ++v) sums[r][v] += factor * b[v];
        }
    }
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t v = 0; v < vectors; ++v) sums[r][v] *= panel.scale;
    if (out.columns == kColumns) {
        for (std::size_t r = 0; r < rows; ++r)
            std::memcpy(out.data + static_cast<Index>(r) * out.stride, sums[r], sizeof sums[r]);
        return;
    }
    float all[rows * kColumns];
    for (std::size_t r = 0; r < rows; ++r) std::memcpy(all + static_cast<Index>(r) * kColumns, sums[r], sizeof sums[r]);
    const float* from = all;
    for (Index r = 0; r < static_cast<Index>(rows); ++r, from += kColumns, out.data += out.stride)
        store<kColumns / 2>(from, out.columns, out.data);
}

// As above, for any number of rows: so many at once, and what is left by halves of that.
template <class Width, std::size_t vectors, std::size_t rows>
[[gnu::always_inline]] inline void multiply_panel(const Rows& a, const Panel& panel, Matrix out) {
    Index row = 0;
    for (; row + static_cast<Index>(rows) <= a.count; row += static_cast<Index>(rows))
        multiply_rows<Width, rows, vectors>(a.from(row), panel, out.rows_from(row, static_cast<Index>(rows)));
    if constexpr (rows > 1)
        if (row < a.count)
            multiply_panel<Width, vectors, rows / 2>(a.from(row), panel, out.rows_from(row, a.count - row));
}

template <class Wide, class Half, std::size_t rows>
[[gnu::always_inline]] inline void multiply_columns(const Rows& a, const Panel& panel, Matrix out) {
    if (out.columns > Wide::kWidth)
        multiply_panel<Wide, 2, rows>(a, panel, out);
    else if (out.columns > Half::kWidth)
        multiply_panel<Wide, 1, rows>(a, panel, out);
    else
        multiply_panel<Half, 1, rows>(a, panel, out);
}

// Takes, of each four numbers of two vectors, the first two or the last two: alternating, or two after two. By
// reference, since how such vectors are returned depends on the CPU.
template <std::size_t from, class Vector, std::size_t... i>
[[gnu::always_inline]] inline void alternate(Vector& out, const Vector& a, const Vector& b, std::index_sequence<i...>) {
    out = __builtin_shufflevector(a, b, (i / 4 * 4 + from + i % 4 / 2 + i % 2 * sizeof...(i))...);
}
template <std::size_t from, class Vector, std::size_t... i>
[[gnu::always_inline]] inline void two_by_two(Vector& out, const Vector& a, const Vector& b,
                                              std::index_sequence<i...>) {
    out = __builtin_shufflevector(a, b, (i / 4 * 4 + from + i % 2 + i % 4 / 2 * sizeof...(i))...);
}

// Four numbers of each fourth row: of as many rows as fill a vector.
[[gnu::always_inline]] inline void gather(Four::Vector& fours, const float* rows, Index) { load(fours, rows); }
[[gnu::always_inline]] inline void gather(Eight::Vector& fours, const float* rows, Index stride) {
    Four::Vector low, high;
    gather(low, rows, stride);
    gather(high, rows + 4 * stride, stride);
    fours = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
[[gnu::always_inline]] inline void gather(Sixteen::Vector& fours, const float* rows, Index stride) {
    Eight::Vector low, high;
    gather(low, rows, stride);
    gather(high, rows + 8 * stride, stride);
    fours = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

// Four numbers of each of as many rows as a vector holds, as four columns.
template <class Width>
[[gnu::always_inline]] inline void transpose_four(const float* rows, Index stride, float* out, Index out_stride) {
    using Vector = typename Width::Vector;
    constexpr std::make_index_sequence<static_cast<std::size_t>(Width::kWidth)> kAll;
    Vector a, b, c, d;
    gather(a, rows, stride);
    gather(b, rows + stride, stride);
    gather(c, rows + 2 * stride, stride);
    gather(d, rows + 3 * stride, stride);
    Vector ab, ab_rest, cd, cd_rest, columns[4];
    alternate<0>(ab, a, b, kAll);
    alternate<2>(ab_rest, a, b, kAll);
    alternate<0>(cd, c, d, kAll);
    alternate<2>(cd_rest, c, d, kAll);
    two_by_two<0>(columns[0], ab, cd, kAll);
    two_by_two<2>(columns[1], ab, cd, kAll);
    two_by_two<0>(columns[2], ab_rest, cd_rest, kAll);
    two_by_two<2>(columns[3], ab_rest, cd_rest, kAll);
    for (const Vector& column : columns) {
        std::memcpy(out, &column, sizeof column);
        out += out_stride;
    }
}

// The rows of b [n, k] from `first` on as the columns of a panel [k, width], as many at once as fill a vector. Returns
// the first one of those left over.
template <class Width>
[[gnu::always_inline]] inline Index transpose_wide(ConstMatrix b, Index first, float* panel, Index width) {
    for (; first + Width::kWidth <= b.rows; first += Width::kWidth) {
        const float* rows = b.data + first * b.stride;
        Index i = 0;
        for (; i + 4 <= b.columns; i += 4) transpose_four<Width>(rows + i, b.stride, panel + i * width + first, width);
        for (; i < b.columns; ++i)
            for (Index r = 0; r < Width::kWidth; ++r) panel[i * width + first + r] = rows[r * b.stride + i];
    }
    return first;
}

// As above, for all rows; columns that b doesn't have stay as they are.
template <class Width>
[[gnu::always_inline]] inline void transpose_rows(ConstMatrix b, float* panel, Index width) {
    Index c = transpose_wide<Four>(b, transpose_wide<Width>(b, 0, panel, width), panel, width);
    for (; c < b.rows; ++c)
        for (Index i = 0; i < b.columns; ++i) panel[i * width + c] = b.data[c * b.stride + i];
}

// What multiplies a panel on this CPU, and makes one of rows; half the columns of a panel, and how many numbers a
// vector of the CPU holds.
struct Kernel {
    Index width, vector;
    void (*multiply)(const Rows&, const Panel&, Matrix);
    void (*transpose)(ConstMatrix, float*, Index);

    // The width of a panel for this many columns, of which it holds twice `width` at most.
    [[nodiscard]] Index panel_width(Index columns) const {
        return columns > width ? 2 * width : columns > width / 2 ? width : std::max(width / 2, Four::kWidth);
    }
};

// Vectors of eight are made of two of four: sixteen registers hold the sums of two rows, and a browser runs that at 41
// to 59 GFLOP/s, where four rows of half as many columns reached 37 to 49.
void multiply_by_four(const Rows& a, const Panel& panel, Matrix out) {
    multiply_columns<Eight, Four, 2>(a, panel, out);
}
void transpose_by_four(ConstMatrix b, float* panel, Index width) { transpose_rows<Four>(b, panel, width); }

#if defined(__x86_64__)

[[gnu::target("avx2,fma")]] void multiply_by_eight(const Rows& a, const Panel& panel, Matrix out) {
    multiply_columns<Eight, Four, 4>(a, panel, out);
}
[[gnu::target("avx2,fma")]] void transpose_by_eight(ConstMatrix b, float* panel, Index width) {
    transpose_rows<Eight>(b, panel, width);
}

[[gnu::target("avx512f,avx2,fma")]] void multiply_by_sixteen(const Rows& a, const Panel& panel, Matrix out) {
    multiply_columns<Sixteen, Eight, 8>(a, panel, out);
}
[[gnu::target("avx512f,avx2,fma")]] void transpose_by_sixteen(ConstMatrix b, float* panel, Index width) {
    transpose_rows<Sixteen>(b, panel, width);
}

Kernel kernel_of_cpu() {
    switch (kCpuVectors) {
        case CpuVectors::of_avx512:
            return {Sixteen::kWidth, Sixteen::kWidth, multiply_by_sixteen, transpose_by_sixteen};
        case CpuVectors::of_avx2:
            return {Eight::kWidth, Eight::kWidth, multiply_by_eight, transpose_by_eight};
        case CpuVectors::of_any:
            break;
    }
    return {Eight::kWidth, Four::kWidth, multiply_by_four, transpose_by_four};
}

#else

Kernel kernel_of_cpu() { return {Eight::kWidth, Four::kWidth, multiply_by_four, transpose_by_four}; }

#endif

const Kernel& kernel() {
    static const Kernel chosen = kernel_of_cpu();
    return chosen;
}

// Room for a panel of k rows, kept by each thread.
float* room_for(Index k, Index width) {
    thread_local std::vector<float> room;
    if (room.size() < static_cast<std::size_t>(k * width)) room.resize(static_cast<std::size_t>(k * width));
    return room.data();
}

struct Placed {
    const float* data;
    Index stride;
};

// Cuts the columns of a right factor into panels: work(first, columns, width).
template <class Work>
void each_panel(Index columns, const Work& work) {
    const Kernel& by = kernel();
    for (Index first = 0; first < columns; first += 2 * by.width) {
        const Index some = std::min(2 * by.width, columns - first);
        work(first, some, by.panel_width(some));
    }
}

// out = scale · (a · b + bias). panel(first, columns, width) says where the panel of some columns is, and how far its
// rows are apart.
template <class PanelOf>
void multiply_panels(const Rows& a, Index k, const float* bias, float scale, Matrix out, const PanelOf& panel) {
    std::array<float, kWidest> start = {};
    each_panel(out.columns, [&](Index first, Index columns, Index width) {
        if (bias != nullptr) std::copy_n(bias + first, columns, start.data());
        const auto [data, stride] = panel(first, columns, width);
        kernel().multiply(a, {data, k, stride, start.data(), scale}, {out.data + first, out.rows, columns, out.stride});
    });
}

// out = a · b    b [k, n]
void multiply_rows_by(const Rows& a, ConstMatrix b, Matrix out) {
    multiply_panels(a, b.rows, nullptr, 1.0F, out, [&](Index first, Index columns, Index width) -> Placed {
        if (columns == width) return {b.data + first, b.stride};
        float* const room = room_for(b.rows, width);
        for (Index i = 0; i < b.rows; ++i) std::copy_n(b.data + i * b.stride + first, columns, room + i * width);
        return {room, width};
    });
}

}  // namespace

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale) {
    multiply_panels({a.data, a.rows, a.stride, 1}, a.columns, nullptr, scale, out,
                    [&](Index first, Index columns, Index width) -> Placed {
                        float* const room = room_for(a.columns, width);
                        kernel().transpose(b.rows_from(first, columns), room, width);
                        return {room, width};
                    });
}

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) { multiply_rows_by({a.data, a.rows, a.stride, 1}, b, out); }

void multiply_turned(ConstMatrix a, ConstMatrix b, Matrix out) {
    multiply_rows_by({a.data, a.columns, 1, a.stride}, b, out);
}

// The panels lie one after another. All but the last are as wide as two vectors.
TransposedWeight::TransposedWeight(ConstMatrix weight) : k_(weight.columns) {
    Index widths = 0;
    each_panel(weight.rows, [&](Index, Index, Index width) { widths += width; });
    panels_ = floats(widths * k_);
    std::fill_n(panels_.get(), widths * k_, 0.0F);
    each_panel(weight.rows, [&](Index first, Index columns, Index width) {
        kernel().transpose(weight.rows_from(first, columns), panels_.get() + first * k_, width);
    });
}

void TransposedWeight::multiply(ConstMatrix x, const float* bias, Matrix out) const {
    multiply_panels({x.data, x.rows, x.stride, 1}, k_, bias, 1.0F, out, [&](Index first, Index, Index width) -> Placed {
        return {panels_.get() + first * k_, width};
    });
}

bool rounds_once() {
    static const bool once = [] {
        // −1 + (1 + e)(1 − e) is −e², or 0 where the product is rounded first.
        constexpr float e = 0x1p-13F;
        const std::array<float, 2> a = {1.0F, 1.0F + e}, b = {-1.0F, 1.0F - e};
        float sum = 0.0F;
        multiply({a.data(), 1, 2, 2}, {b.data(), 2, 1, 1}, {&sum, 1, 1, 1});
        return sum != 0.0F;
    }();
    return once;
}

Index vector_width() { return kernel().vector; }

}  // namespace decoderscope::products::plain_products
