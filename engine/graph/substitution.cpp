#include "engine/graph/substitution.h"

#include "engine/tensor/rows.h"

#include <algorithm>

namespace decoderscope {

Substitution::Substitution(const Run& run, StepId wanted) : run_(run), wanted_(wanted), depends_(wanted + 1) {
    depends_[wanted] = true;
    for (StepId id = wanted + 1; id-- > 0;)
        for (const StepId operand : depends_[id] ? run.plan()[id].operands : std::vector<StepId>())
            depends_[operand] = true;
}

Tensor Substitution::with(StepId step, Tensor values) const {
    const Plan& plan = run_.plan();
    if (step > wanted_ || !depends_[step]) return run_.value(wanted_);
    std::vector<Tensor> changed(wanted_ + 1);
    changed[step] = std::move(values);
    for (StepId id = step + 1; id <= wanted_; ++id) {
        const std::vector<StepId>& reads = plan[id].operands;
        const auto is_changed = [&](StepId operand) { return !changed[operand].empty(); };
        if (!depends_[id] || std::ranges::none_of(reads, is_changed)) continue;
        Operands operands;
        for (const StepId operand : reads) operands.add(is_changed(operand) ? changed[operand] : run_.value(operand));
        changed[id] = plan[id].operation.compute(operands, plan[id].axes);
        for (const Patch& patch : plan[id].patches) patch.apply(changed[id]);
    }
    return changed[wanted_];
}

Tensor with_row_of(const Tensor& to, const Tensor& from, Index batch, Index row) {
    const Axes& axes = to.axes();
    const std::size_t along = *row_axis(axes);
    const bool batched = axes[0].name == axis::batch && along > 0;
    Index planes = 1, width = 1;
    for (std::size_t i = batched ? 1 : 0; i < along; ++i) planes *= axes[i].size;
    for (std::size_t i = along + 1; i < axes.size(); ++i) width *= axes[i].size;
    const Index rows = axes[along].size, first_plane = batched ? batch * planes : 0;
    Tensor result = to;
    float* values = result.writable().data();
    for (Index plane = first_plane; plane < first_plane + planes; ++plane) {
        const Index at = (plane * rows + row) * width;
        std::copy_n(from.data() + at, width, values + at);
    }
    return result;
}

}  // namespace decoderscope
