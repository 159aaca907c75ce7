#include "engine/ops/scaled_dot_product.h"

#include "engine/ops/latent.h"
#include "engine/products/heads.h"

#include "engine/base/parallel.h"
#include "engine/products/linalg.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::ops {

namespace {

// scores [query, key] −= slope · (query − key), by the positions' numbers
void subtract_distances(float slope, std::span<const float> of_queries, std::span<const float> of_keys, float* scores) {
    for (const float query : of_queries)
        for (const float key : of_keys) *scores++ -= slope * (query - key);
}

}  // namespace

double alibi_slope(Index head, Index heads) {
    const auto below = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    const auto slope = [](Index number, Index of) {
        return std::exp2(-8.0 * static_cast<double>(number) / static_cast<double>(of));
    };
    return head < below ? slope(head + 1, below) : slope(2 * (head - below) + 1, 2 * below);
}

double ScaledDotProduct::scale_for(Index d_head) const {
    return scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(d_head));
}

ByFormula ScaledDotProduct::formula() const {
    const std::string label = scale == 0.0 ? "scores" : "scores_scaled";
    const NamedNumber factor = {"attention_scale", scale};
    if (alibi == Alibi::none) return {label, {"query", "key"}, {factor}};
    return {places.label(label + (alibi == Alibi::scaled ? "_alibi_scaled" : "_alibi")),
            places.with_numbers({"query", "key"}),
            {factor, places.past()}};
}

Axes ScaledDotProduct::axes(const OperandAxes& in) const {
    return {in[0][0], in[0][1], {axis::query, in[0][2].size}, {axis::key, in[1][2].size}};
}

Tensor ScaledDotProduct::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size, d_head = in[0].dim(3);
    const Index key_heads = in[1].dim(1), group = heads / key_heads;
    const bool scaled_later = product_as != Arithmetic::float32;
    const float factor = scaled_later ? 1.0F : static_cast<float>(scale_for(d_head));
    Tensor out(axes);
    float* to = out.writable().data();
    const std::vector<float> numbers =
        alibi != Alibi::none ? Places{0, places.given}.numbers(in, 2, std::max(keys, places.first + queries))
                             : std::vector<float>();
    const auto subtract_by_head = [&](Index plane) {
        const double own = head ? alibi_slope(head->number, head->of) : alibi_slope(plane % heads, heads);
        const double slope = alibi == Alibi::scaled && !scaled_later ? own * scale_for(d_head) : own;
        const std::span row =
            std::span(numbers).subspan(places.given ? static_cast<std::size_t>(plane / heads * keys) : 0);
        subtract_distances(static_cast<float>(slope),
                           row.subspan(static_cast<std::size_t>(places.first), static_cast<std::size_t>(queries)),
                           row.first(static_cast<std::size_t>(keys)), to + plane * queries * keys);
    };
    const auto finish = [&](Index plane) {
        const std::span scores(to + plane * queries * keys, static_cast<std::size_t>(queries * keys));
        const auto scale_later = [&] {
            if (!scaled_later) return;
            for (float& score : scores) score *= static_cast<float>(scale_for(d_head));
        };
        if (scaled_later) round_all(scores, product_as);
        if (alibi != Alibi::scaled) scale_later();
        if (alibi == Alibi::none) return;
        if (scaled_later && alibi == Alibi::added) round_all(scores, product_as);
        subtract_by_head(plane);
        if (scaled_later && alibi == Alibi::scaled) round_all(scores, product_as);
        if (alibi == Alibi::scaled) scale_later();
    };
    if (scores_by_latent_rows(in[0], in[1], factor, to)) {
        for (Index plane = 0; plane < axes[0].size * heads; ++plane) finish(plane);
        return out;
    }
    const Planes of_keys = planes_of(in[1]);
    each_in_parallel(axes[0].size * heads, queries * keys * d_head, [&](Index plane) {
        const Index b = plane / heads, h = plane % heads;
        const products::ConstMatrix q = {in[0].data() + plane * queries * d_head, queries, d_head, d_head};
        const products::ConstMatrix k = {of_keys.data + (b * key_heads + h / group) * of_keys.apart, keys, d_head,
                                         d_head};
        products::multiply_transposed(q, k, {to + plane * queries * keys, queries, keys, keys}, factor);
        finish(plane);
    });
    return out;
}

bool ScaledDotProduct::rows_stand_alone(const Operands& in) const {
    return decoderscope::products::rows_stand_alone(in[0].dim(3), in[1].dim(2));
}

// A changed key changes a column for every query.
Changed ScaledDotProduct::changed(const OperandsChange& change) const {
    if (change.changed.size() > 2 && change.changed[2] != kUnchanged) return {};
    return {change.changed[0].rows, change.changed[1].rows};
}

Tensor ScaledDotProduct::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &q = b.in[0], &k = b.in[1];
    const Index heads = q.dim(1), queries = q.dim(2), d_head = q.dim(3), key_heads = k.dim(1), keys = k.dim(2);
    const Index group = heads / key_heads;
    const auto factor = static_cast<float>(scale_for(d_head));
    if (operand == 1) return products::gathered_by_key(b.grad, q, k.axes(), factor);
    Tensor out(q.axes());
    float* to = out.writable().data();
    each_in_parallel(q.dim(0) * heads, queries * keys * d_head, [&](Index plane) {
        const Index key_plane = plane / heads * key_heads + plane % heads / group;
        float* rows = to + plane * queries * d_head;
        products::multiply({b.grad.data() + plane * queries * keys, queries, keys, keys},
                           {k.data() + key_plane * keys * d_head, keys, d_head, d_head},
                           {rows, queries, d_head, d_head});
        std::for_each(rows, rows + queries * d_head, [&](float& value) { value *= factor; });
    });
    return out;
}

}  // namespace decoderscope::ops
