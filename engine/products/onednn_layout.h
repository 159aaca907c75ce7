#pragma once

#include "engine/products/onednn_product.h"
#include "engine/products/xsmm.h"

#include <optional>
#include <vector>

// How oneDNN lays out a weight.
namespace decoderscope::products::onednn_products {

// How a layout cuts a matrix into blocks: their sizes, the dimensions they cut, and the distances between them. No
// sizes if there are no blocks.
struct Blocks {
    std::vector<memory::dim> sizes, dimensions, strides;
    bool operator==(const Blocks&) const = default;
};

[[nodiscard]] Blocks blocks_of(const memory::desc& layout);

// The layout that a weight [k, n] gets for its products; with no blocks if matmul prefers no layout.
[[nodiscard]] memory::desc packed_layout(Index k, Index n);
// As above, for a weight [n, k] by inner products.
[[nodiscard]] memory::desc inner_product_layout(Index k, Index n);

// The panels of a packed layout, if libxsmm can multiply them.
[[nodiscard]] std::optional<xsmm_products::Panels> panels_of(const memory::desc& layout, Index k, Index n,
                                                             const float* room);

}  // namespace decoderscope::products::onednn_products
