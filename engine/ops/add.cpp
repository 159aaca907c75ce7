#include "engine/ops/add.h"

#include "engine/parallel.h"
#include "engine/row_math.h"

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
    return {
        "add", "y[b, p, d] = x[b, p, d] + update[b, p, d]",
        "The residual connection: a sublayer never replaces the stream, it adds to it. Follow one row through the "
        "depth and you see what each sublayer wrote there. Gradients flow back through the sum undiminished, which is "
        "why deep stacks can be trained at all."};
}

Tensor Add::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    const float* x = in[0].data();
    for (std::size_t i = 1; i < in.size(); ++i, x = to) add_to(x, in[i], out.size(), to);
    return out;
}

Explanation Add::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Cell tail(cell.end() - static_cast<std::ptrdiff_t>(in[i].rank()), cell.end());
        terms.push_back(term({cell_factor(in[i], i, tail)}));
    }
    return {{line("sum", std::move(terms))}};
}

}  // namespace decoderscope
