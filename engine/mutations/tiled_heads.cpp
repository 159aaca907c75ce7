#include "engine/mutations/tiled_heads.h"

#include "engine/translate.h"

#include <algorithm>

namespace decoderscope {

namespace {

// The operands with the second one's heads repeated in turn, as many as the first has.
struct Repeated {
    Tensor few;  // [batch, head, key, d_head]
    Operands operands;

    explicit Repeated(const Operands& in) : few(repeated(in[1], in[0].dim(1))) {
        operands.add(in[0]);
        operands.add(few);
    }
    Repeated(const Repeated&) = delete;
    Repeated& operator=(const Repeated&) = delete;

private:
    static Tensor repeated(const Tensor& few, Index heads) {
        const Axes& axes = few.axes();
        Tensor out({axes[0], {axis::head, heads}, axes[2], axes[3]});
        const auto plane = static_cast<std::ptrdiff_t>(axes[2].size * axes[3].size);
        auto to = out.writable().begin();
        for (Index b = 0; b < axes[0].size; ++b)
            for (Index h = 0; h < heads; ++h)
                to = std::copy_n(few.data() + (b * axes[1].size + h % axes[1].size) * plane, plane, to);
        return out;
    }
};

}  // namespace

About TiledHeads::about() const {
    return {tr("heads repeated in turn"), "query head h reads head h mod kv_heads",  // not a message: a formula
            tr("Keys and values of fewer heads, repeated as a whole: 0 1 0 1. A checkpoint with grouped queries means "
               "0 0 1 1: neighbouring query heads share one. Where each key head has one query head, or there is only "
               "one key head, both are the same.")};
}

Tensor TiledHeads::compute(const Operands& in, const Axes& axes) const {
    const Repeated repeated(in);
    return right.compute(repeated.operands, axes);
}

Explanation TiledHeads::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const Repeated repeated(in);
    Explanation explanation = right.explain(repeated.operands, out, cell);
    const auto place = [&](Factor& factor) {
        if (factor.cell && factor.cell->operand == 1) factor.cell->cell[1] %= in[1].dim(1);
    };
    for (Line& line : explanation.lines) {
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) place(factor);
        for (Factor& factor : line.given) place(factor);
    }
    return explanation;
}

}  // namespace decoderscope
