#pragma once

#include "engine/formulas/code.h"
#include "engine/formulas/evaluate.h"
#include "engine/tensor/memory.h"

namespace decoderscope::formulas {

// A product of two matrices, or of many pairs of them, in float32.
struct Product {
    std::vector<Index> sizes;
    Floats numbers;

    [[nodiscard]] std::span<const float> values() const {
        std::size_t count = 1;
        for (const Index size : sizes) count *= static_cast<std::size_t>(size);
        return {numbers.get(), count};
    }
};

// Whether a definition may have such products.
[[nodiscard]] bool may_have_products(const Code& code);
// The node, in which each Σ_k a[…, k] · b[…, k] of two operands of float32 that the products library can multiply was
// computed by it, and is read instead: as the result number `first` and those after it. `shape` is the definition's.
[[nodiscard]] Code with_products(const Code& code, const Shape& shape, const Operands& operands, std::size_t first,
                                 std::vector<Product>& products);

}  // namespace decoderscope::formulas
