#include "engine/ops/dropout.h"

#include "engine/random.h"
#include "engine/translate.h"

namespace decoderscope {

About DropoutMask::about() const {
    return {tr("dropout mask"), "mask = random < p ? 0 : 1 / (1 − p)",
            tr("Training switches numbers off at random, so that no unit can rely on another. What stays is scaled up, "
               "which keeps the expected sum; when the model is used, nothing is dropped and nothing scaled. The seed "
               "is fixed: the same seed drops the same cells.")};
}

Tensor DropoutMask::compute(const Operands&, const Axes& axes) const {
    const RandomStream random(seed, name);
    const float kept = p < 1.0 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0F;
    Tensor out(axes);
    std::uint64_t i = 0;
    for (float& to : out.writable()) to = random.uniform(i++) < p ? 0.0F : kept;
    return out;
}

Explanation DropoutMask::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    const double drawn = RandomStream(seed, name).uniform(static_cast<std::uint64_t>(out.offset(cell)));
    const std::string text = short_number(drawn) + (drawn < p ? " < " : " ≥ ") + short_number(p);
    const double value = drawn < p || p >= 1.0 ? 0.0 : 1.0 / (1.0 - p);
    return {{line("mask", {term({constant_factor(value, text)})})}};
}

About Drop::about() const {
    return {tr("dropout"), "dropped = x · mask",
            tr("A dropped cell is 0, the others are a little larger than they were. The model causal-lm drops scores "
               "before the softmax: a dropped score is 0, not hidden, and a hidden one that is dropped becomes 0 · "
               "(−∞) = NaN, which makes its whole row NaN.")};
}

Tensor Drop::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    const float* mask = in[1].data();
    for (float& to : out.writable()) to = *x++ * *mask++;
    return out;
}

Explanation Drop::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line(tr("dropped"), {term({cell_factor(in[0], 0, cell), cell_factor(in[1], 1, cell)})})}};
}

}  // namespace decoderscope
