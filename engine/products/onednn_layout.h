#pragma once

#include "engine/products/onednn_product.h"
#include "engine/products/xsmm.h"

#include <optional>
#include <vector>

// How oneDNN lays a weight out.
namespace decoderscope::onednn_products {

// How a layout cuts a matrix into blocks: their sizes, by which dimensions, and how far apart they lie. No sizes where
// it doesn't.
struct Blocks {
    std::vector<memory::dim> sizes, dimensions, strides;
    bool operator==(const Blocks&) const = default;
};

[[nodiscard]] Blocks blocks_of(const memory::desc& layout);

// The layout that a weight [k, n] gets for its products; with no blocks where matmul has none of its own.
[[nodiscard]] memory::desc packed_layout(Index k, Index n);
// The same for a weight [n, k] by inner products.
[[nodiscard]] memory::desc inner_product_layout(Index k, Index n);

// The panels that a packed layout consists of, if libxsmm multiplies them.
[[nodiscard]] std::optional<xsmm_products::Panels> panels_of(const memory::desc& layout, Index k, Index n,
                                                             const float* room);

}  // namespace decoderscope::onednn_products
