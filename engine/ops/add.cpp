#include "engine/ops/add.h"

#include "engine/parallel.h"
#include "engine/row_math.h"

namespace decoderscope {

About Add::about() const {
    return {
        "add", "y[b, p, d] = x[b, p, d] + update[b, p, d]",
        "The residual connection: a sublayer never replaces the stream, it adds to it. Follow one row through the "
        "depth and you see what each sublayer wrote there. Gradients flow back through the sum undiminished, which is "
        "why deep stacks can be trained at all."};
}

Tensor Add::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const Index period = in[1].size();  // positions are added to every row of the batch
    const float* x = in[0].data();
    const float* update = in[1].data();
    float* to = out.writable().data();
    for (Index start = 0; start < out.size(); start += period) {
        in_parallel(period, kCopyCost, [&](Index begin, Index end) {
            const auto count = static_cast<std::size_t>(end - begin);
            row::add({x + start + begin, count}, {update + begin, count}, {to + start + begin, count});
        });
    }
    return out;
}

Explanation Add::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Cell tail(cell.end() - static_cast<std::ptrdiff_t>(in[1].rank()), cell.end());
    return {{line("sum", {term({cell_factor(in[0], 0, cell)}), term({cell_factor(in[1], 1, tail)})})}};
}

}  // namespace decoderscope
