#include "engine/mutations/wrong_mask.h"

#include "engine/translate.h"

namespace decoderscope {

About WrongMask::about() const {
    return {tr("wrong mask"), "mask[b, h, q, k] ∈ {0, 1}",
            tr("Not the mask that this decoder should have: a mistake that was put in. 1 = kept, 0 = hidden.")};
}

bool WrongMask::keeps(const Operands& in, const Cell& cell) const {
    const MaskVerdict verdict = right.verdict(in, cell);
    const Index query = cell[2], key = cell[3];
    switch (kind) {
        case Kind::inverted:
            return !verdict.kept();
        case Kind::shifted:
            return key <= query + shift && verdict.padding && verdict.custom && verdict.window;
        case Kind::future_only:
            return key >= query && verdict.padding && verdict.custom;
        case Kind::padded_queries:
            return verdict.causal && verdict.custom && verdict.window &&
                   right.verdict(in, {cell[0], cell[1], cell[2], query}).padding;
        case Kind::nothing:
            return true;
    }
    return true;
}

Tensor WrongMask::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> values = out.writable();
    for (Index i = 0; i < out.size(); ++i) values[static_cast<std::size_t>(i)] = keeps(in, out.cell(i)) ? 1.0F : 0.0F;
    return out;
}

Explanation WrongMask::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const bool kept = keeps(in, cell);
    return {{line(tr("mask"), {term({constant_factor(kept ? 1.0 : 0.0, kept ? tr("kept") : tr("hidden"))})})}};
}

}  // namespace decoderscope
