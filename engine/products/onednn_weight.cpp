#include "engine/base/parallel.h"
#include "engine/products/onednn.h"
#include "engine/products/onednn_layout.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace decoderscope::products::onednn_products {

namespace {

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

// The key of a product with a weight: rows, k, outputs, the stride of x, whether there is a bias.
using WeightKey = std::tuple<Index, Index, Index, Index, bool>;

Product& weight_product(ConstMatrix x, const memory& weight, Index outputs, bool biased) {
    thread_local Products<WeightKey> products;
    return products.get({x.rows, x.columns, outputs, x.stride, biased}, [&] {
        const memory::desc bias = rows_of(1, outputs, outputs);
        const memory::desc* const added = biased ? &bias : nullptr;
        const memory::desc from = rows_of(x.rows, x.columns, x.stride), to = rows_of(x.rows, outputs, outputs);
        return Product(matmul_desc(from, weight.get_desc(), added, to), added);
    });
}

Product& inner_product(ConstMatrix x, const memory& weight, Index outputs, bool biased) {
    thread_local Products<WeightKey> products;
    return products.get({x.rows, x.columns, outputs, x.stride, biased}, [&] {
        const memory::desc bias(memory::dims{outputs}, kFloat, memory::format_tag::a);
        const memory::desc* const added = biased ? &bias : nullptr;
        const memory::desc from = rows_of(x.rows, x.columns, x.stride), to = rows_of(x.rows, outputs, outputs);
        return Product(inner_product_desc(from, weight.get_desc(), added, to), added);
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

bool PackedWeight::takes_blocks(Index block) const {
    return packed_->panels && xsmm_products::takes_blocks(*packed_->panels, block);
}

void PackedWeight::multiply(ConstMatrix x, const float* bias, Matrix out) const {
    if (packed_->panels) return xsmm_products::multiply(*packed_->panels, 0, packed_->n, x, bias, out);
    stay_on_this_thread();
    const memory& weight = packed_->values;
    Product& product = packed_->by_inner_product ? inner_product(x, weight, packed_->n, bias != nullptr)
                                                 : weight_product(x, weight, packed_->n, bias != nullptr);
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
