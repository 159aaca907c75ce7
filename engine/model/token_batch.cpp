#include "engine/model/token_batch.h"

#include <algorithm>

namespace decoderscope {

TokenBatch padded_batch(const std::vector<std::vector<Index>>& rows, std::string_view length_axis, Index pad) {
    const auto shorter = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const auto [shortest, longest] = std::minmax_element(rows.begin(), rows.end(), shorter);
    const Axes axes = {{axis::batch, static_cast<Index>(rows.size())},
                       {length_axis, static_cast<Index>(longest->size())}};
    std::vector<float> tokens, mask;
    for (const std::vector<Index>& row : rows) {
        for (std::size_t i = 0; i < longest->size(); ++i) {
            tokens.push_back(static_cast<float>(i < row.size() ? row[i] : pad));
            mask.push_back(i < row.size() ? 1.0F : 0.0F);
        }
    }
    return {Tensor(axes, tokens), shortest->size() < longest->size() ? Tensor(axes, mask) : Tensor()};
}

}  // namespace decoderscope
