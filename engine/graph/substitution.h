#pragma once

#include "engine/graph/run.h"

#include <vector>

namespace decoderscope {

// What one step of a run would be if another step had other values: whatever lies between the two is computed again,
// with its edits; all else is the run's. Nothing is recorded, and the run stays as it is.
class Substitution {
public:
    // `wanted` is the step that is asked for. The run must outlive this.
    Substitution(const Run& run, StepId wanted);

    // The wanted step with these values in place of a step's; they have its axes.
    [[nodiscard]] Tensor with(StepId step, Tensor values) const;
    // Whether the wanted step depends on this one.
    [[nodiscard]] bool depends_on(StepId step) const { return depends_[step]; }

private:
    const Run& run_;
    StepId wanted_;
    std::vector<bool> depends_;
};

// A copy of `to` in which one row (a position) of one batch row is that of `from`. Both have the same axes, with rows
// (engine/tensor/rows.h); tensors without a batch axis ignore `batch`.
[[nodiscard]] Tensor with_row_of(const Tensor& to, const Tensor& from, Index batch, Index row);

}  // namespace decoderscope
