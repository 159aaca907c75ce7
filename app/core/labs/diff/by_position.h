#pragma once

#include "app/core/labs/diff/shown_comparison.h"
#include "engine/tensor/tensor.h"

#include <string>
#include <vector>

namespace decoderscope::core::diff {

// How a step of A differs from B's at each position of its sequence, over all heads and features of one batch row.
struct DifferenceByPosition {
    static constexpr std::size_t kKept = 4;

    struct At {
        std::string token;
        double largest = 0.0;   // max |a − b|; ∞ where only one side is NaN or infinite
        Cell cell;              // where that is, the first such
        bool both_nan = false;  // a number is NaN in both, which can't be compared
    };
    std::vector<At> positions;  // empty if the step doesn't run over a sequence
};

// A must be alive, and of this scenario; B must have the step in the same shape.
[[nodiscard]] Value<DifferenceByPosition> shown_by_position(Derived& derived, const Scenario& scenario,
                                                            const Value<ShownComparison>& of, const Step& step,
                                                            Index batch);

}  // namespace decoderscope::core::diff
