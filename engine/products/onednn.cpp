#include "engine/products/onednn.h"

#include "engine/products/onednn_product.h"

#include <tuple>

namespace decoderscope::products::onednn_products {

bool available() { return true; }

std::string version() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

bool rows_stand_alone() {
    // The kernels that oneDNN calls brgemm sum each number in one order, whatever the shape. The others choose an order
    // that depends on the shape.
    static const bool alone = [] {
        stay_on_this_thread();
        const std::string kernels =
            matmul_desc(rows_of(64, 64, 64), rows_of(64, 64, 64), nullptr, rows_of(64, 64, 64)).impl_info_str();
        return kernels.starts_with("brg");
    }();
    return alone;
}

void multiply(ConstMatrix a, ConstMatrix b, bool transposed, Matrix out, float scale) {
    stay_on_this_thread();
    using Key = std::tuple<Index, Index, Index, Index, Index, Index, bool, float>;
    thread_local Products<Key> products;
    const Key key = {out.rows, out.columns, a.columns, a.stride, b.stride, out.stride, transposed, scale};
    Product& product = products.get(key, [&] {
        const memory::desc b_layout =
            transposed ? matrix(a.columns, out.columns, 1, b.stride) : matrix(a.columns, out.columns, b.stride, 1);
        const memory::desc from = rows_of(a.rows, a.columns, a.stride), to = rows_of(out.rows, out.columns, out.stride);
        return Product(matmul_desc(from, b_layout, nullptr, to, scale), nullptr);
    });
    product.run(a.data, b.data, out.data);
}

}  // namespace decoderscope::products::onednn_products
