#include "app/core/heads/strongest_weight.h"

#include "app/core/heads/head_scores.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace decoderscope {

std::optional<StrongestWeight> strongest_weight(const Inputs& inputs, const Run& run, const std::string& attention,
                                                Index batch) {
    const std::string name = attention + ".pattern";
    const Tensor& pattern = run.value(name);  // [batch, head, query, key]
    const Tensor& mask = run.value(attention + ".mask");
    if (pattern.rank() != 4 || mask.rank() != 4 || batch >= pattern.dim(0)) return std::nullopt;
    const std::vector<std::uint8_t> padding =
        padded_queries(inputs, kind_of_attention(run.plan(), attention), batch);  // [query]
    std::optional<StrongestWeight> best;
    const auto keys = static_cast<std::size_t>(pattern.dim(3));
    for (Index head = 0; head < pattern.dim(1); ++head) {
        for (Index query = 0; query < pattern.dim(2); ++query) {
            if (!padding.empty() && padding[static_cast<std::size_t>(query)] != 0) continue;
            const auto row = [&](const Tensor& tensor) {
                return tensor.values().subspan(static_cast<std::size_t>(tensor.offset(Cell{batch, head, query, 0})),
                                               keys);
            };
            const std::span<const float> weights = row(pattern), kept = row(mask);
            const bool has_choice = std::ranges::count_if(kept, [](float m) { return m != 0.0F; }) > 1;
            const bool is_number = std::ranges::none_of(weights, [](float w) { return std::isnan(w); });
            if (!has_choice || !is_number) continue;
            const auto largest = std::ranges::max_element(weights);
            if (best && *largest <= best->weight) continue;
            best = {name, {batch, head, query, static_cast<Index>(largest - weights.begin())}, *largest};
        }
    }
    return best;
}

Value<ShownStrongestWeight> shown_strongest_weight(Derived& derived, const Snapshot& shown,
                                                   const std::string& attention, Index batch) {
    return derived.get<ShownStrongestWeight>({shown.run}, std::tie(attention, batch), [&] {
        return ShownStrongestWeight{strongest_weight(shown.scenario.inputs, *shown.run, attention, batch)};
    });
}

}  // namespace decoderscope
