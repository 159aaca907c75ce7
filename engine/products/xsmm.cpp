#include "engine/products/xsmm.h"

#include <immintrin.h>
#include <libxsmm.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace decoderscope::xsmm_products {

namespace {

// How much of k is multiplied at a time. Of a panel of 64 outputs that is 16 KB: they stay in the first cache for all
// rows, while the next 16 KB are on their way from memory to the second.
constexpr Index kDepth = 64;
// So many rows of a panel's outputs, 32 KB, stay in the first cache while k goes by.
constexpr Index kRowsAtATime = 128;

// out [rows, width] += x [rows, k] · part [k, width], and fetches the part after it meanwhile.
// libxsmm's matrices lie in columns, ours in rows: to it this is outᵀ += partᵀ · xᵀ.
class Kernel {
public:
    Kernel(Index width, Index rows, Index k, Index x_stride, Index out_stride) {
        const int part_by = static_cast<int>(width), x_by = static_cast<int>(x_stride),
                  out_by = static_cast<int>(out_stride);
        const float alpha = 1.0F, beta = 1.0F;
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

void fill_rows(const float* row, Matrix out) {
    for (Index r = 0; r < out.rows; ++r) {
        float* const to = out.data + r * out.stride;
        if (row != nullptr)
            std::copy_n(row, out.columns, to);
        else
            std::fill_n(to, out.columns, 0.0F);
    }
}

// out += x · panel
void add_product(const Kernels& kernels, const float* panel, Index width, ConstMatrix x, Matrix out) {
    for (Index k = 0; k < x.columns; k += kDepth) {
        const Kernel& kernel = x.columns - k > kDepth ? kernels.whole : kernels.last;
        const float* const part = panel + k * width;
        kernel.run(part, part + kDepth * width, x.data + k, out.data);
    }
}

// The same where a panel is wider than out: what lies beside out must not be written to.
void add_part_of_product(const float* panel, Index width, ConstMatrix x, Matrix out) {
    thread_local std::vector<float> room;
    room.assign(static_cast<std::size_t>(x.rows * width), 0.0F);
    for (Index r = 0; r < x.rows; ++r) std::copy_n(out.data + r * out.stride, out.columns, room.data() + r * width);
    add_product(Kernels(width, x, width), panel, width, x, {room.data(), x.rows, width, width});
    for (Index r = 0; r < x.rows; ++r) std::copy_n(room.data() + r * width, out.columns, out.data + r * out.stride);
}

void multiply_rows(const Panels& weight, ConstMatrix x, const float* bias, Matrix out) {
    fill_rows(bias, out);
    const auto panel = [&](Index first) { return weight.data + first / weight.width * weight.stride; };
    const Index whole = weight.n / weight.width * weight.width;
    if (whole > 0) {
        const Kernels kernels(weight.width, x, out.stride);
        for (Index first = 0; first < whole; first += weight.width)
            add_product(kernels, panel(first), weight.width, x, {out.data + first, out.rows, weight.width, out.stride});
    }
    if (whole < weight.n)
        add_part_of_product(panel(whole), weight.width, x, {out.data + whole, out.rows, weight.n - whole, out.stride});
}

// The kernels leave something in the upper halves of the registers, and until they are cleared SSE's instructions, of
// which the rest of the program consists, are slow.
[[gnu::target("avx")]] void clear_upper_halves() { _mm256_zeroupper(); }

}  // namespace

bool can_multiply(Index width) {
    // Narrower panels are added up in another order if the rows are few, and older CPUs have no fused multiply-add.
    constexpr Index kNarrowest = 32;
    return libxsmm_get_target_archid() >= LIBXSMM_X86_AVX2 && width >= kNarrowest;
}

void multiply(const Panels& weight, ConstMatrix x, const float* bias, Matrix out) {
    for (Index first = 0; first < x.rows; first += kRowsAtATime) {
        const Index rows = std::min(kRowsAtATime, x.rows - first);
        multiply_rows(weight, {x.data + first * x.stride, rows, x.columns, x.stride}, bias,
                      {out.data + first * out.stride, rows, out.columns, out.stride});
    }
    clear_upper_halves();
}

}  // namespace decoderscope::xsmm_products
