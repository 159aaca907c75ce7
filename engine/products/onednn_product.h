#pragma once

#include "engine/base/index.h"

#include <dnnl.hpp>

#include <map>
#include <optional>

// A wrapper of oneDNN for the files in this folder: matrices, products of one shape, and the differences between
// versions 2 and 3.
namespace decoderscope::products::onednn_products {

using dnnl::memory;

inline constexpr auto kFloat = memory::data_type::f32;

// To be called before any other oneDNN call: each thread works by itself. OpenMP's own threads would spin for
// milliseconds on a whole core while waiting for work.
void stay_on_this_thread();

[[nodiscard]] const dnnl::engine& cpu();

// How a matrix lies in memory.
[[nodiscard]] memory::desc matrix(Index rows, Index columns, Index row_stride, Index column_stride);
[[nodiscard]] memory::desc rows_of(Index rows, Index columns, Index stride);
[[nodiscard]] memory::desc any_layout(Index rows, Index columns);
// A view of existing memory in that layout. oneDNN takes non-const pointers even to memory that it only reads.
[[nodiscard]] memory at(const memory::desc& layout, const void* values);

using MatmulDesc = dnnl::matmul::primitive_desc;
using InnerProductDesc = dnnl::inner_product_forward::primitive_desc;

// out [m, n] = scale · a [m, k] · b [k, n] (+ bias [1, n])
[[nodiscard]] MatmulDesc matmul_desc(const memory::desc& a, const memory::desc& b, const memory::desc* bias,
                                     const memory::desc& out, float scale = 1.0F);
// out [m, n] = x [m, k] · weight [n, k]ᵀ (+ bias [n])
[[nodiscard]] InnerProductDesc inner_product_desc(const memory::desc& x, const memory::desc& weight,
                                                  const memory::desc* bias, const memory::desc& out);

// A product of one shape, which can be run repeatedly on different numbers.
class Product {
public:
    Product(const MatmulDesc& description, const memory::desc* bias);
    Product(const InnerProductDesc& description, const memory::desc* bias);

    void run(const float* a, const memory& b, const float* bias, float* out);
    void run(const float* a, const float* b, float* out);

private:
    template <class Description>
    Product(const Description& description, dnnl::primitive primitive, const memory::desc* bias);

    dnnl::primitive primitive_;
    dnnl::stream stream_;
    memory a_, b_, out_;
    std::optional<memory> bias_;
};

// A thread's cache of products by key: creating one takes far longer than running it.
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

}  // namespace decoderscope::products::onednn_products
