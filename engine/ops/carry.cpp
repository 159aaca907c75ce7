#include "engine/ops/carry.h"

#include "engine/translate.h"

namespace decoderscope {

About Carry::about() const {
    return {tr("carry"), "y = x",
            tr("Nothing is computed: the residual stream goes on under its next name. What leaves one block is what "
               "enters the next.")};
}

Tensor Carry::compute(const Operands& in, const Axes& axes) const { return in[0].with_axes(axes); }

Explanation Carry::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line(tr("carried"), {term({cell_factor(in[0], 0, cell)})})}};
}

}  // namespace decoderscope
