#include "engine/ops/add.h"

#include "engine/parallel.h"
#include "engine/row_math.h"
#include "engine/translate.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

// to = x + update, `size` numbers; a shorter update is repeated: positions are added to every row of the batch.
void add_to(const float* x, const Tensor& update, Index size, float* to) {
    const Index period = update.size();
    const float* added = update.data();
    for (Index start = 0; start < size; start += period) {
        in_parallel(period, kCopyCost, [&](Index begin, Index end) {
            const auto count = static_cast<std::size_t>(end - begin);
            row::add({x + start + begin, count}, {added + begin, count}, {to + start + begin, count});
        });
    }
}

}  // namespace

About Add::about() const {
    if (residual_scale != 1.0)
        return {tr("add to the scaled stream"), "y[b, p, d] = residual_scale · x[b, p, d] + update[b, p, d]",
                tr("The residual connection with a weight on the stream. DeepNorm chooses it above 1, the larger the "
                   "deeper the stack, so that no single update can move the stream far, and Post-Norm can be trained "
                   "at a depth of a thousand layers.")};
    return {tr("add"), "y[b, p, d] = x[b, p, d] + update[b, p, d]",
            tr("The residual connection: a sublayer never replaces the stream, it adds to it. Follow one row through "
               "the depth and you see what each sublayer wrote there. Gradients flow back through the sum "
               "undiminished, which is why deep stacks can be trained at all.")};
}

Tensor Add::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    const float* x = in[0].data();
    if (residual_scale != 1.0) {
        std::transform(x, x + out.size(), to,
                       [factor = static_cast<float>(residual_scale)](float v) { return factor * v; });
        x = to;
    }
    for (std::size_t i = 1; i < in.size(); ++i, x = to) add_to(x, in[i], out.size(), to);
    return out;
}

Explanation Add::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Cell tail(cell.end() - static_cast<std::ptrdiff_t>(in[i].rank()), cell.end());
        std::vector<Factor> factors = {cell_factor(in[i], i, tail)};
        if (i == 0 && residual_scale != 1.0) factors.push_back(constant_factor(residual_scale, "residual_scale"));
        terms.push_back(term(std::move(factors)));
    }
    return {{line(tr("sum"), std::move(terms))}};
}

}  // namespace decoderscope
