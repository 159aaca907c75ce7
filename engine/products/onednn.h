#pragma once

#include "engine/products/linalg.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

// Products by oneDNN; linalg.cpp chooses the library. All run on the calling thread.
namespace decoderscope::products::onednn_products {

// Whether the program is built with oneDNN.
[[nodiscard]] bool available();
[[nodiscard]] std::string version();
// Whether its kernels for this CPU compute each row independently: those for two matrices, and those for weights.
[[nodiscard]] bool rows_stand_alone();
[[nodiscard]] bool weight_rows_stand_alone();

// out = scale · a · b, or scale · a · bᵀ if `transposed`.
void multiply(ConstMatrix a, ConstMatrix b, bool transposed, Matrix out, float scale);

// A weight in the layout that the CPU multiplies fastest.
class PackedWeight {
public:
    // Called, from several threads, with rows that were read and won't be read again.
    using RowsPacked = std::function<void(Index first, Index rows)>;
    explicit PackedWeight(ConstMatrix weight, const RowsPacked& rows_packed = {});  // [n, k]
    ~PackedWeight();
    PackedWeight(const PackedWeight&) = delete;
    PackedWeight& operator=(const PackedWeight&) = delete;

    // The weight as it was, row after row.
    void unpack(float* weight) const;  // [n, k]
    // Some of its values, row after row, if they are where that is quick; otherwise false.
    [[nodiscard]] bool copy(Index first, std::span<float> to) const;

    // Whether the columns of x or out may lie in blocks of that size.
    [[nodiscard]] bool takes_blocks(Index block) const;

    // out = x · weightᵀ + bias; out's rows must lie one after another.
    void multiply(ConstMatrix x, const float* bias, Matrix out) const;

    // How many slices of whole outputs it can be cut into, so that several threads can share few rows; 1 if it can't be
    // cut.
    [[nodiscard]] Index slices() const;
    // As above, for one slice's columns.
    void multiply_slice(Index slice, ConstMatrix x, const float* bias, Matrix out) const;

private:
    struct Packed;
    std::unique_ptr<Packed> packed_;
};

}  // namespace decoderscope::products::onednn_products
