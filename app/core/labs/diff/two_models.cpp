#include "app/core/labs/diff/two_models.h"

#include "app/core/labs/diff/comparison_text.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::core::diff {

NamedTensors weights_of(const Run& run) {
    NamedTensors weights;
    for (const Step& step : run.plan().steps())
        if (step.role == Role::parameter && !step.source.empty()) weights.emplace_back(step.name, step.source);
    return weights;
}

bool has_other_weights(const Run& a, const Run& b) {
    const NamedTensors left = weights_of(a);
    const auto is_shared = [&](const auto& one) {
        const Ref other = b.plan().find(one.first);
        return other != nullptr && one.second.shares_values_with(other->source);
    };
    return !left.empty() && !weights_of(b).empty() && std::ranges::none_of(left, is_shared);
}

std::vector<std::size_t> furthest_first(const Comparison& comparison) {
    std::vector<std::size_t> order = worst_first(comparison);
    const auto measured = [&](std::size_t at) {
        const TensorDifference& d = comparison.tensors[at];
        return d.presence == Presence::in_both && d.largest > 0.0;
    };
    const auto begin = std::ranges::find_if(order, measured);
    const auto end = std::find_if_not(begin, order.end(), measured);
    std::stable_sort(begin, end, [&](std::size_t left, std::size_t right) {
        return comparison.tensors[left].relative() > comparison.tensors[right].relative();
    });
    return order;
}

std::string moves_table(const Comparison& comparison, std::string_view a, std::string_view b) {
    std::vector<TableRow> rows = {{tr("tensor"), {tr("largest"), tr("relative"), tr("mean")}, tr("where")}};
    for (const std::size_t at : furthest_first(comparison)) {
        const TensorDifference& d = comparison.tensors[at];
        if (!d.differs()) continue;
        if (d.presence != Presence::in_both)
            rows.push_back({d.name, {}, presence_text(d, a, b)});
        else
            rows.push_back({d.name,
                            {difference_text(d.largest), difference_text(d.relative()), difference_text(d.mean)},
                            place_of_largest(d)});
    }
    return rows.size() > 1 ? table_text(rows) : std::string();
}

}  // namespace decoderscope::core::diff
