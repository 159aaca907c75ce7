#include "engine/base/parallel.h"
#include "engine/products/onednn.h"
#include "engine/products/onednn_product.h"
#include "engine/products/xsmm.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace decoderscope::products::onednn_products {

namespace {

// How a layout cuts a matrix into blocks: their sizes, the dimensions they cut, and the distances between them. No
// sizes if there are no blocks.
struct Blocks {
    std::vector<memory::dim> sizes, dimensions, strides;
    bool operator==(const Blocks&) const = default;
};

// The number of rows for which oneDNN is asked to choose a layout.
constexpr Index kUsualRows = 64;

// Whether libxsmm can multiply panels of 64 outputs, the widest that oneDNN makes.
bool panels_are_multiplied() { return xsmm_products::can_multiply(64); }

Blocks blocks_of(const memory::desc& layout) {
#if DNNL_VERSION_MAJOR >= 3
    return {layout.get_inner_blks(), layout.get_inner_idxs(), layout.get_strides()};
#else
    const auto& blocking = layout.data.format_desc.blocking;
    return {{blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks},
            {blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks},
            {blocking.strides, blocking.strides + layout.data.ndims}};
#endif
}

// The layout that a weight [k, n] gets for its products; with no blocks if matmul prefers no layout.
memory::desc packed_layout(Index k, Index n) {
    const memory::desc bias = rows_of(1, n, n);
    const memory::desc layout =
        matmul_desc(rows_of(kUsualRows, k, k), any_layout(k, n), &bias, rows_of(kUsualRows, n, n)).weights_desc();
    // For AVX2, oneDNN 2 prefers no layout, but it can make panels for libxsmm.
    if (blocks_of(layout).sizes.empty() && panels_are_multiplied())
        return {memory::dims{k, n}, kFloat, memory::format_tag::BA16a64b};
    return layout;
}

// As above, for a weight [n, k] by inner products.
memory::desc inner_product_layout(Index k, Index n) {
    return inner_product_desc(rows_of(kUsualRows, k, k), any_layout(n, k), nullptr, rows_of(kUsualRows, n, n))
        .weights_desc();
}

// The panels of a packed layout, if libxsmm can multiply them.
std::optional<xsmm_products::Panels> panels_of(const memory::desc& layout, Index k, Index n, const float* room) {
    const Blocks blocks = blocks_of(layout);
    if (blocks.sizes.size() != 2 || blocks.dimensions != std::vector<memory::dim>{0, 1}) return {};
    // Blocks of k, one after another, each [rows of k, outputs].
    const Index width = blocks.sizes[1];
    if (blocks.strides[0] != blocks.sizes[0] * width || !xsmm_products::can_multiply(width)) return {};
    return xsmm_products::Panels{room, k, n, width, blocks.strides[1]};
}

// Outputs of a slice: whole blocks for the kernels, and enough slices for the threads to finish at the same time.
Index slice_width(Index outputs) {
    constexpr Index kBlock = 64, kSlices = 4, kWidest = 1024;
    return std::clamp<Index>((outputs / kSlices + kBlock - 1) / kBlock * kBlock, kBlock, kWidest);
}

// Copies values from one layout to another.
void reorder(memory from, memory to) {
    stay_on_this_thread();
    dnnl::stream stream(cpu());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
}

// Room for a layout, on large pages, because every product reads a weight from end to end.
Floats room_for(const memory::desc& layout) { return floats(static_cast<Index>(layout.get_size() / sizeof(float))); }

// Slices of whole outputs, which lie one after another in the whole layout; none if they don't.
std::vector<memory> slices_of(const memory::desc& layout, Index k, Index n, Index width, float* room) {
    if (n <= width) return {};
    const memory::desc slice = packed_layout(k, width), last = packed_layout(k, n - (n - 1) / width * width);
    if (blocks_of(slice) != blocks_of(layout) || blocks_of(last) != blocks_of(layout)) return {};
    std::vector<memory> slices;
    for (Index first = 0; first < n; first += width)
        slices.push_back(at(first + width < n ? slice : last,
                            room + first / width * static_cast<Index>(slice.get_size() / sizeof(float))));
    return slices;
}

// The product of x with a weight for this many outputs, by matmul or by inner_product.
Product& weight_product(ConstMatrix x, const memory& weight, Index outputs, bool biased,
                        bool by_inner_product = false) {
    // Rows, k, outputs, the stride of x, whether there is a bias.
    thread_local Products<std::tuple<Index, Index, Index, Index, bool>> by_matmul, others;
    return (by_inner_product ? others : by_matmul).get({x.rows, x.columns, outputs, x.stride, biased}, [&] {
        const memory::desc bias = by_inner_product ? memory::desc{memory::dims{outputs}, kFloat, memory::format_tag::a}
                                                   : rows_of(1, outputs, outputs);
        const memory::desc* const added = biased ? &bias : nullptr;
        const memory::desc from = rows_of(x.rows, x.columns, x.stride), to = rows_of(x.rows, outputs, outputs);
        return by_inner_product ? Product(inner_product_desc(from, weight.get_desc(), added, to), added)
                                : Product(matmul_desc(from, weight.get_desc(), added, to), added);
    });
}

}  // namespace

struct PackedWeight::Packed {
    Index k = 0, n = 0;
    bool by_inner_product = false;
    Floats room;
    memory values;                                // in the room
    Index slice_width = 0;                        // in outputs; the last slice has fewer
    std::vector<memory> slices;                   // also in the room
    std::optional<xsmm_products::Panels> panels;  // the room, if libxsmm multiplies its layout faster
};

bool weight_rows_stand_alone() { return rows_stand_alone() || panels_are_multiplied(); }

PackedWeight::PackedWeight(ConstMatrix weight, const RowsPacked& rows_packed) : packed_(std::make_unique<Packed>()) {
    stay_on_this_thread();
    Packed& p = *packed_;
    p.k = weight.columns;
    p.n = p.slice_width = weight.rows;
    memory::desc layout = packed_layout(p.k, p.n);
    // Without libxsmm: if matmul prefers no layout, inner_product has one.
    p.by_inner_product = blocks_of(layout).sizes.empty();
    if (p.by_inner_product) layout = inner_product_layout(p.k, p.n);
    p.room = room_for(layout);
    p.values = at(layout, p.room.get());
    p.panels = panels_of(layout, p.k, p.n, p.room.get());
    if (!p.by_inner_product) p.slices = slices_of(layout, p.k, p.n, slice_width(p.n), p.room.get());
    if (p.slices.empty()) {
        const memory::desc plain =
            p.by_inner_product ? rows_of(p.n, p.k, weight.stride) : matrix(p.k, p.n, 1, weight.stride);
        reorder(at(plain, weight.data), p.values);
        return;
    }
    p.slice_width = slice_width(p.n);
    each_in_parallel(static_cast<Index>(p.slices.size()), p.k * p.slice_width, [&](Index slice) {
        const Index first = slice * p.slice_width, rows = std::min(p.slice_width, p.n - first);
        reorder(at(matrix(p.k, rows, 1, weight.stride), weight.data + first * weight.stride),
                p.slices[static_cast<std::size_t>(slice)]);
        if (rows_packed) rows_packed(first, rows);
    });
}

PackedWeight::~PackedWeight() = default;

void PackedWeight::unpack(float* weight) const {
    const Packed& p = *packed_;
    reorder(p.values, at(p.by_inner_product ? rows_of(p.n, p.k, p.k) : matrix(p.k, p.n, 1, p.k), weight));
}

bool PackedWeight::copy(Index first, std::span<float> to) const {
    if (!packed_->panels) return false;
    const xsmm_products::Panels& p = *packed_->panels;
    for (float& value : to) {
        const Index row = first / p.k, column = first % p.k;
        value = p.data[row / p.width * p.stride + column * p.width + row % p.width];
        ++first;
    }
    return true;
}

bool PackedWeight::takes_blocks(Index block) const {
    return packed_->panels && xsmm_products::takes_blocks(*packed_->panels, block);
}

void PackedWeight::multiply(ConstMatrix x, const float* bias, Matrix out) const {
    if (packed_->panels) return xsmm_products::multiply(*packed_->panels, 0, packed_->n, x, bias, out);
    stay_on_this_thread();
    const memory& weight = packed_->values;
    Product& product = weight_product(x, weight, packed_->n, bias != nullptr, packed_->by_inner_product);
    product.run(x.data, weight, bias, out.data);
}

Index PackedWeight::slices() const { return std::max<Index>(1, static_cast<Index>(packed_->slices.size())); }

void PackedWeight::multiply_slice(Index slice, ConstMatrix x, const float* bias, Matrix out) const {
    const Packed& p = *packed_;
    if (p.slices.empty()) return multiply(x, bias, out);
    const Index first = slice * p.slice_width, outputs = std::min(p.slice_width, p.n - first);
    if (p.panels) return xsmm_products::multiply(*p.panels, first, outputs, x, bias, out);
    stay_on_this_thread();
    const memory& weight = p.slices[static_cast<std::size_t>(slice)];
    Product& product = weight_product(x, weight, outputs, bias != nullptr);
    const float* const slice_bias = bias != nullptr ? bias + first : nullptr;
    if (x.rows == 1) return product.run(x.data, weight, slice_bias, out.data + first);
    // The kernels only write rows that lie one after another.
    thread_local std::vector<float> dense;
    dense.resize(static_cast<std::size_t>(x.rows * outputs));
    product.run(x.data, weight, slice_bias, dense.data());
    for (Index r = 0; r < x.rows; ++r)
        std::copy_n(dense.data() + r * outputs, outputs, out.data + r * out.stride + first);
}

}  // namespace decoderscope::products::onednn_products
