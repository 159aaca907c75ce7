#include "engine/ops/rescale.h"

#include "engine/parallel.h"
#include "engine/translate.h"

#include <string>

namespace decoderscope {

About Rescale::about() const {
    return {tr(message_c("operation", "scale")), "y = factor · x",
            tr("Every number times the same factor. On logits this is a temperature that the model was trained with: "
               "a factor below 1 makes the probabilities more even, one above 1 sharper; their order stays.")};
}

Tensor Rescale::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    float* y = out.writable().data();
    const auto by = static_cast<float>(factor);
    in_parallel(out.size(), kCopyCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) y[i] = by * x[i];
    });
    return out;
}

Explanation Rescale::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line(tr("scaled"), {term({constant_factor(factor, std::string(key)), cell_factor(in[0], 0, cell)})})}};
}

}  // namespace decoderscope
