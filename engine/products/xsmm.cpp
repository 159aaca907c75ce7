#include "engine/products/xsmm.h"

#include <immintrin.h>
#include <libxsmm.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace decoderscope::products::xsmm_products {

namespace {

// How much of k is multiplied at a time. For a panel of 64 outputs that is 16 KB, which stay in the L1 cache for all
// rows while the next 16 KB are fetched from memory into L2.
constexpr Index kDepth = 64;
// This many rows of a panel's outputs, 32 KB, stay in the L1 cache during the loop over k.
constexpr Index kRowsAtATime = 128;

// out [rows, width] += x [rows, k] · part [k, width], while prefetching the part after it.
// libxsmm's matrices are column-major, ours row-major: for libxsmm this is outᵀ += partᵀ · xᵀ.
class Kernel {
public:
    // Without `adds` it writes the product alone.
    Kernel(Index width, Index rows, Index k, Index x_stride, Index out_stride, bool adds = true) {
        const int part_by = static_cast<int>(width), x_by = static_cast<int>(x_stride),
                  out_by = static_cast<int>(out_stride);
        const float alpha = 1.0F, beta = adds ? 1.0F : 0.0F;
        const int flags = LIBXSMM_GEMM_FLAG_NONE, fetch = LIBXSMM_GEMM_PREFETCH_AL2;
        run_ = libxsmm_smmdispatch(static_cast<int>(width), static_cast<int>(rows), static_cast<int>(k), &part_by,
                                   &x_by, &out_by, &alpha, &beta, &flags, &fetch);
        if (run_ == nullptr) throw std::runtime_error("libxsmm could not make a kernel for a product");
    }

    void run(const float* part, const float* next_part, const float* x, float* out) const {
        run_(part, x, out, next_part, x, out);
    }

private:
    libxsmm_smmfunction run_;
};

// The kernels of one product with a panel: for a whole part of k, and for the last one.
struct Kernels {
    Kernels(Index width, ConstMatrix x, Index out_stride)
        : whole(width, x.rows, std::min(x.columns, kDepth), x.stride, out_stride),
          last(x.columns % kDepth == 0 ? whole : Kernel(width, x.rows, x.columns % kDepth, x.stride, out_stride)) {}
    Kernel whole, last;
};

// Writes the first value of each sum: the bias of these outputs, or 0.
void begin_sums(const float* bias, Index outputs, Index rows, float* out, Index stride) {
    for (Index r = 0; r < rows; ++r, out += stride) {
        if (bias != nullptr)
            std::copy_n(bias, outputs, out);
        else
            std::fill_n(out, outputs, 0.0F);
    }
}

// out += x · panel
void add_product(const Kernels& kernels, const float* panel, Index width, ConstMatrix x, float* out) {
    for (Index k = 0; k < x.columns; k += kDepth) {
        const Kernel& kernel = x.columns - k > kDepth ? kernels.whole : kernels.last;
        const float* const part = panel + k * width;
        kernel.run(part, part + kDepth * width, x.column(k), out);
    }
}

// As above, if a panel is wider than the outputs needed: nothing next to them may be written to.
void multiply_partly(const float* panel, Index width, ConstMatrix x, const float* bias, Index outputs, float* out,
                     Index stride) {
    thread_local std::vector<float> room;
    room.assign(static_cast<std::size_t>(x.rows * width), 0.0F);
    begin_sums(bias, outputs, x.rows, room.data(), width);
    add_product(Kernels(width, x, width), panel, width, x, room.data());
    for (Index r = 0; r < x.rows; ++r) std::copy_n(room.data() + r * width, outputs, out + r * stride);
}

void multiply_rows(const Panels& weight, Index first, Index end, ConstMatrix x, const float* bias, Matrix out) {
    const auto panel = [&](Index output) { return weight.data + output / weight.width * weight.stride; };
    const auto bias_from = [&](Index output) { return bias != nullptr ? bias + output : nullptr; };
    Index output = first;
    if (output + weight.width <= end) {
        const Kernels kernels(weight.width, x, out.stride);
        for (; output + weight.width <= end; output += weight.width) {
            begin_sums(bias_from(output), weight.width, x.rows, out.column(output), out.stride);
            add_product(kernels, panel(output), weight.width, x, out.column(output));
        }
    }
    if (output < end)
        multiply_partly(panel(output), weight.width, x, bias_from(output), end - output, out.column(output),
                        out.stride);
}

// The kernels leave the upper halves of the registers dirty. Until they are cleared, SSE instructions, which the rest
// of the program uses, are slow.
[[gnu::target("avx")]] void clear_upper_halves() { _mm256_zeroupper(); }

// How much of k is copied from b at a time.
constexpr Index kCopied = 256;

// Copies b, [k, columns], to panels of rows of kPanel numbers, one panel after another, each with room for kCopied
// rows.
void copy_panels(ConstMatrix b, float* panels) {
    for (Index r = 0; r < b.rows; ++r)
        for (Index c = 0; c < b.columns; c += kPanel)
            std::copy_n(b.data + r * b.stride + c, std::min(kPanel, b.columns - c), panels + c * kCopied + r * kPanel);
}

// out (+)= a · panel, for as much of k as was copied; it begins the sums, or adds to them.
void multiply_panel(ConstMatrix a, const float* panel, bool begins, float* out, Index stride) {
    for (Index k = 0; k < a.columns; k += kDepth) {
        const Kernel kernel(kPanel, a.rows, std::min(kDepth, a.columns - k), a.stride, stride, !begins || k > 0);
        const float* const part = panel + k * kPanel;
        kernel.run(part, part + kDepth * kPanel, a.data + k, out);
    }
}

}  // namespace

bool can_multiply(Index width) {
    // Narrower panels are summed in another order if there are few rows, and older CPUs have no fused multiply-add.
    constexpr Index kNarrowest = 32;
    return libxsmm_get_target_archid() >= LIBXSMM_X86_AVX2 && width >= kNarrowest;
}

bool takes_blocks(const Panels& weight, Index block) { return block % weight.width == 0 && block % kDepth == 0; }

void multiply(const Panels& weight, Index first, Index count, ConstMatrix x, const float* bias, Matrix out) {
    for (Index row = 0; row < x.rows; row += kRowsAtATime) {
        const Index rows = std::min(kRowsAtATime, x.rows - row);
        multiply_rows(weight, first, first + count, x.rows_from(row, rows), bias, out.rows_from(row, rows));
    }
    clear_upper_halves();
}

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) {
    const Index panels = (out.columns + kPanel - 1) / kPanel, whole = out.columns / kPanel * kPanel;
    const Index narrow = out.columns - whole;
    thread_local std::vector<float> copied, beside;
    copied.resize(static_cast<std::size_t>(panels * kPanel * kCopied));
    beside.resize(static_cast<std::size_t>(narrow > 0 ? out.rows * kPanel : 0));  // the outputs of a narrower panel
    for (Index k = 0; k < a.columns; k += kCopied) {
        const Index depth = std::min(kCopied, a.columns - k);
        copy_panels({b.data + k * b.stride, depth, b.columns, b.stride}, copied.data());
        for (Index row = 0; row < out.rows; row += kRowsAtATime) {
            const Index rows = std::min(kRowsAtATime, out.rows - row);
            const ConstMatrix part = {a.data + row * a.stride + k, rows, depth, a.stride};
            float* const to = out.data + row * out.stride;
            for (Index c = 0; c < whole; c += kPanel)
                multiply_panel(part, copied.data() + c * kCopied, k == 0, to + c, out.stride);
            if (narrow > 0)
                multiply_panel(part, copied.data() + whole * kCopied, k == 0, beside.data() + row * kPanel, kPanel);
        }
    }
    for (Index r = 0; r < out.rows && narrow > 0; ++r)
        std::copy_n(beside.data() + r * kPanel, narrow, out.data + r * out.stride + whole);
    clear_upper_halves();
}

}  // namespace decoderscope::products::xsmm_products
