#pragma once

#include "engine/ops/places.h"

namespace decoderscope::ops {

// How well each key matches each query: q · k · scale, the scale 1/√d_head unless said otherwise (Vaswani et al. 2017,
// equation 1). With fewer key heads than query heads (grouped-query attention, Ainslie et al. 2023) neighbouring query
// heads share one. With ALiBi (Press et al. 2022) −slope · (query − key) is added, to what is scaled or, as in Falcon,
// to q · k before it is. {q [batch, head, query, d_head], k [batch, kv_head, key, d_head], positions [batch, key] if
// ALiBi's are given}
// -> [batch, head, query, key]
struct ScaledDotProduct {
    enum class Alibi { none, added, scaled };
    double scale = 0.0;  // 0 = 1/√d_head
    Alibi alibi = Alibi::none;
    Places places = {};                           // of the queries, for ALiBi
    Arithmetic product_as = Arithmetic::float32;  // q · k is rounded to it before it is scaled
    std::optional<Head> head = std::nullopt;      // the one that it is of, for ALiBi; nothing: all

    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Changed changed(const OperandsChange& change) const;
    [[nodiscard]] ScaledDotProduct from_row(Index row) const {
        return {scale, alibi, places.from_row(row), product_as, head};
    }
    [[nodiscard]] ScaledDotProduct of_head(const Head& one) const { return {scale, alibi, places, product_as, one}; }
    [[nodiscard]] ScaledDotProduct rounding_within(Arithmetic type) const { return {scale, alibi, places, type, head}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const ScaledDotProduct&) const = default;

private:
    [[nodiscard]] double scale_for(Index d_head) const;
};

// How fast ALiBi's penalty of a head grows with the distance: 2^(−8/n), 2^(−16/n), … for n heads, n a power of two;
// for other numbers those of the power of two below, then every other one of the power above, as in Press et al.'s
// code.
[[nodiscard]] double alibi_slope(Index head, Index heads);

}  // namespace decoderscope::ops
