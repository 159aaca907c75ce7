#include "engine/products/onednn_layout.h"

#include "engine/products/onednn.h"

namespace decoderscope::products::onednn_products {

namespace {

// The number of rows for which oneDNN is asked to choose a layout.
constexpr Index kUsualRows = 64;

// Whether libxsmm can multiply panels of 64 outputs, the widest that oneDNN makes.
bool panels_are_multiplied() { return xsmm_products::can_multiply(64); }

}  // namespace

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

memory::desc packed_layout(Index k, Index n) {
    const memory::desc bias = rows_of(1, n, n);
    const memory::desc layout =
        matmul_desc(rows_of(kUsualRows, k, k), any_layout(k, n), &bias, rows_of(kUsualRows, n, n)).weights_desc();
    // For AVX2, oneDNN 2 prefers no layout, but it can make panels for libxsmm.
    if (blocks_of(layout).sizes.empty() && panels_are_multiplied())
        return {memory::dims{k, n}, kFloat, memory::format_tag::BA16a64b};
    return layout;
}

memory::desc inner_product_layout(Index k, Index n) {
    return inner_product_desc(rows_of(kUsualRows, k, k), any_layout(n, k), nullptr, rows_of(kUsualRows, n, n))
        .weights_desc();
}

std::optional<xsmm_products::Panels> panels_of(const memory::desc& layout, Index k, Index n, const float* room) {
    const Blocks blocks = blocks_of(layout);
    if (blocks.sizes.size() != 2 || blocks.dimensions != std::vector<memory::dim>{0, 1}) return {};
    // Blocks of k, one after another, each [rows of k, outputs].
    const Index width = blocks.sizes[1];
    if (blocks.strides[0] != blocks.sizes[0] * width || !xsmm_products::can_multiply(width)) return {};
    return xsmm_products::Panels{room, k, n, width, blocks.strides[1]};
}

bool weight_rows_stand_alone() { return rows_stand_alone() || panels_are_multiplied(); }

}  // namespace decoderscope::products::onednn_products
