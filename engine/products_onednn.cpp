#include "engine/memory.h"
#include "engine/parallel.h"
#include "engine/products.h"

#include <dnnl.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

namespace decoderscope::onednn_products {

namespace {

using dnnl::memory;
using Format = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;

// Each thread works by itself: OpenMP's own threads would wait for work with a whole core for milliseconds.
void stay_on_this_thread() {
    thread_local const bool told = [] {
        omp_set_num_threads(1);
        return true;
    }();
    (void)told;
}

const dnnl::engine& cpu() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

memory::desc matrix(Index rows, Index columns, Index row_stride, Index column_stride) {
    return {memory::dims{rows, columns}, kFloat, memory::dims{row_stride, column_stride}};
}
memory::desc rows_of(Index rows, Index columns, Index stride) { return matrix(rows, columns, stride, 1); }
memory::desc any_layout(Index rows, Index columns) { return {memory::dims{rows, columns}, kFloat, Format::any}; }

dnnl::primitive_attr scaled_by(float scale) {
    dnnl::primitive_attr attributes;
    if (scale == 1.0F) return attributes;
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0.0F);
#else
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_linear, scale, 0.0F);
#endif
    attributes.set_post_ops(after);
    return attributes;
}

using MatmulDesc = dnnl::matmul::primitive_desc;
using InnerProductDesc = dnnl::inner_product_forward::primitive_desc;

// out [m, n] = a [m, k] · b [k, n] (+ bias [1, n])
MatmulDesc matmul_desc(const memory::desc& a, const memory::desc& b, const memory::desc* bias, const memory::desc& out,
                       float scale) {
#if DNNL_VERSION_MAJOR >= 3
    return bias != nullptr ? MatmulDesc(cpu(), a, b, *bias, out, scaled_by(scale))
                           : MatmulDesc(cpu(), a, b, out, scaled_by(scale));
#else
    return bias != nullptr ? MatmulDesc(dnnl::matmul::desc(a, b, *bias, out), scaled_by(scale), cpu())
                           : MatmulDesc(dnnl::matmul::desc(a, b, out), scaled_by(scale), cpu());
#endif
}

// out [m, n] = x [m, k] · weight [n, k]ᵀ (+ bias [n])
InnerProductDesc inner_product_desc(const memory::desc& x, const memory::desc& weight, const memory::desc* bias,
                                    const memory::desc& out) {
    const auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    return bias != nullptr ? InnerProductDesc(cpu(), kind, x, weight, *bias, out)
                           : InnerProductDesc(cpu(), kind, x, weight, out);
#else
    return bias != nullptr ? InnerProductDesc(dnnl::inner_product_forward::desc(kind, x, weight, *bias, out), cpu())
                           : InnerProductDesc(dnnl::inner_product_forward::desc(kind, x, weight, out), cpu());
#endif
}

// How a layout cuts a matrix into blocks: their sizes, and how far apart they lie. No sizes where it doesn't.
struct Blocks {
    std::vector<memory::dim> sizes, dimensions, strides;
    bool operator==(const Blocks&) const = default;
};

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

// Memory of that layout somewhere else; oneDNN asks for pointers to what it may write, also where it only reads.
memory at(const memory::desc& layout, const void* values) { return {layout, cpu(), const_cast<void*>(values)}; }

// A product of one shape, ready to be run on other numbers again and again.
class Product {
public:
    template <class Description>
    Product(const Description& description, dnnl::primitive primitive, const memory::desc* bias)
        : primitive_(std::move(primitive)),
          stream_(cpu()),
          a_(at(description.src_desc(), nullptr)),
          b_(at(description.weights_desc(), nullptr)),
          out_(at(description.dst_desc(), nullptr)) {
        if (bias != nullptr) bias_ = at(*bias, nullptr);
    }

    void run(const float* a, const memory& b, const float* bias, float* out) {
        a_.set_data_handle(const_cast<float*>(a));
        out_.set_data_handle(out);
        std::array<dnnl_exec_arg_t, 4> arguments = {{{DNNL_ARG_SRC, a_.get()},
                                                     {DNNL_ARG_WEIGHTS, b.get()},
                                                     {DNNL_ARG_DST, out_.get()},
                                                     {DNNL_ARG_BIAS, nullptr}}};
        if (bias_) {
            bias_->set_data_handle(const_cast<float*>(bias));
            arguments[3].memory = bias_->get();
        }
        // The C++ interface would put the arguments together anew for every call.
        dnnl::error::wrap_c_api(
            dnnl_primitive_execute(primitive_.get(), stream_.get(), bias_ ? 4 : 3, arguments.data()),
            "could not run a product");
    }

    void run(const float* a, const float* b, float* out) {
        b_.set_data_handle(const_cast<float*>(b));
        run(a, b_, nullptr, out);
    }

private:
    dnnl::primitive primitive_;
    dnnl::stream stream_;
    memory a_, b_, out_;
    std::optional<memory> bias_;
};

Product matmul(const memory::desc& a, const memory::desc& b, const memory::desc* bias, const memory::desc& out,
               float scale = 1.0F) {
    const MatmulDesc description = matmul_desc(a, b, bias, out, scale);
    return {description, dnnl::matmul(description), bias};
}

// The products of one thread by what they were made for: making one takes far longer than running it.
template <class Key>
class Products {
public:
    template <class Make>
    Product& get(const Key& key, const Make& make) {
        const auto known = made_.find(key);
        if (known != made_.end()) return known->second;
        if (made_.size() >= kMost) made_.clear();
        return made_.emplace(key, make()).first->second;
    }

private:
    static constexpr std::size_t kMost = 512;
    std::map<Key, Product> made_;
};

// The panels that a layout consists of, if libxsmm multiplies them: blocks of k, one after another, each
// [rows of k, outputs].
std::optional<xsmm_products::Panels> panels_of(const memory::desc& layout, Index k, Index n, const float* room) {
    const Blocks blocks = blocks_of(layout);
    if (blocks.sizes.size() != 2 || blocks.dimensions != std::vector<memory::dim>{0, 1}) return {};
    const Index width = blocks.sizes[1];
    if (blocks.strides[0] != blocks.sizes[0] * width || !xsmm_products::can_multiply(width)) return {};
    return xsmm_products::Panels{room, k, n, width, blocks.strides[1]};
}

// The layout that a weight [k, n] gets for its products with so many rows at a time.
constexpr Index kUsualRows = 64;

// Whether libxsmm multiplies panels as wide as any that oneDNN makes.
bool panels_are_multiplied() { return xsmm_products::can_multiply(64); }

memory::desc packed_layout(Index k, Index n) {
    const memory::desc bias = rows_of(1, n, n);
    const memory::desc layout =
        matmul_desc(rows_of(kUsualRows, k, k), any_layout(k, n), &bias, rows_of(kUsualRows, n, n), 1.0F).weights_desc();
    // For AVX2 oneDNN 2 has no layout of its own, but it can make panels for libxsmm.
    if (blocks_of(layout).sizes.empty() && panels_are_multiplied())
        return {memory::dims{k, n}, kFloat, Format::BA16a64b};
    return layout;
}

memory::desc inner_product_layout(Index k, Index n) {
    return inner_product_desc(rows_of(kUsualRows, k, k), any_layout(n, k), nullptr, rows_of(kUsualRows, n, n))
        .weights_desc();
}

}  // namespace

bool available() { return true; }

std::string version() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

bool rows_stand_alone() {
    // The kernels that oneDNN calls brgemm add each number up in one order, whatever the shape around it. The others
    // choose an order by the shape.
    static const bool alone = [] {
        stay_on_this_thread();
        const std::string kernels =
            matmul_desc(rows_of(64, 64, 64), rows_of(64, 64, 64), nullptr, rows_of(64, 64, 64), 1.0F).impl_info_str();
        return kernels.starts_with("brg");
    }();
    return alone;
}

bool weight_rows_stand_alone() { return rows_stand_alone() || panels_are_multiplied(); }

void multiply(ConstMatrix a, ConstMatrix b, bool transposed, Matrix out, float scale) {
    stay_on_this_thread();
    using Key = std::tuple<Index, Index, Index, Index, Index, Index, bool, float>;
    thread_local Products<Key> products;
    const Key key = {out.rows, out.columns, a.columns, a.stride, b.stride, out.stride, transposed, scale};
    Product& product = products.get(key, [&] {
        const memory::desc b_layout =
            transposed ? matrix(a.columns, out.columns, 1, b.stride) : matrix(a.columns, out.columns, b.stride, 1);
        return matmul(rows_of(a.rows, a.columns, a.stride), b_layout, nullptr,
                      rows_of(out.rows, out.columns, out.stride), scale);
    });
    product.run(a.data, b.data, out.data);
}

struct PackedWeight::Packed {
    Index k = 0, n = 0;
    bool by_inner_product = false;
    Floats room;
    memory values;                                // in the room
    Index slice_width = 0;                        // in outputs; the last slice has fewer
    std::vector<memory> slices;                   // in the room, too
    std::optional<xsmm_products::Panels> panels;  // the room, where its layout is one that libxsmm multiplies faster
};

namespace {

// Outputs of a slice: whole blocks for the kernels, and enough slices for the threads to be done at the same time.
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

// Room for a layout, on large pages: a weight is read from end to end for every product.
Floats room_for(const memory::desc& layout) { return floats(static_cast<Index>(layout.get_size() / sizeof(float))); }

// Slices of whole outputs, which lie one after another in the layout of all; none where they don't.
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

}  // namespace

PackedWeight::PackedWeight(ConstMatrix weight, const RowsPacked& rows_packed) : packed_(std::make_unique<Packed>()) {
    stay_on_this_thread();
    Packed& p = *packed_;
    p.k = weight.columns;
    p.n = p.slice_width = weight.rows;
    memory::desc layout = packed_layout(p.k, p.n);
    // Without libxsmm: where matmul has no layout of its own, inner_product has one.
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

namespace {

// The key of a product with a weight: rows, k, outputs, the stride of x, whether there is a bias.
using WeightKey = std::tuple<Index, Index, Index, Index, bool>;

Product& weight_product(ConstMatrix x, const memory& weight, Index outputs, bool biased) {
    thread_local Products<WeightKey> products;
    return products.get({x.rows, x.columns, outputs, x.stride, biased}, [&] {
        const memory::desc bias = rows_of(1, outputs, outputs);
        return matmul(rows_of(x.rows, x.columns, x.stride), weight.get_desc(), biased ? &bias : nullptr,
                      rows_of(x.rows, outputs, outputs));
    });
}

Product& inner_product(ConstMatrix x, const memory& weight, Index outputs, bool biased) {
    thread_local Products<WeightKey> products;
    return products.get({x.rows, x.columns, outputs, x.stride, biased}, [&] {
        const memory::desc bias(memory::dims{outputs}, kFloat, Format::a);
        const InnerProductDesc description =
            inner_product_desc(rows_of(x.rows, x.columns, x.stride), weight.get_desc(), biased ? &bias : nullptr,
                               rows_of(x.rows, outputs, outputs));
        return Product(description, dnnl::inner_product_forward(description), biased ? &bias : nullptr);
    });
}

}  // namespace

void PackedWeight::unpack(float* weight) const {
    const Packed& p = *packed_;
    reorder(p.values, at(p.by_inner_product ? rows_of(p.n, p.k, p.k) : matrix(p.k, p.n, 1, p.k), weight));
}

void PackedWeight::multiply(ConstMatrix x, const float* bias, Matrix out) const {
    if (packed_->panels) return xsmm_products::multiply(*packed_->panels, x, bias, out);
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
    if (p.panels)
        return xsmm_products::multiply(p.panels->outputs(first, outputs), x, bias != nullptr ? bias + first : nullptr,
                                       {out.data + first, out.rows, outputs, out.stride});
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

}  // namespace decoderscope::onednn_products
