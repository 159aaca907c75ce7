#include "engine/ops/soft_cap.h"

#include "engine/parallel.h"
#include "engine/translate.h"

#include <cmath>

namespace decoderscope {

namespace {

constexpr Index kSoftCapCost = 20;  // of one number, in multiply-adds

}  // namespace

About SoftCap::about() const {
    return {tr("soft cap"), "y = cap · tanh(x / cap)",
            tr("Nothing comes out larger than the cap, and what is small stays nearly as it is. A score that ran away "
               "would make the softmax one-hot and its gradient nothing; a cap keeps a hand on it without a hard edge, "
               "so that a gradient still passes. Gemma 2 caps its scores at 50 and its logits at 30.")};
}

Tensor SoftCap::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    float* y = out.writable().data();
    const auto most = static_cast<float>(cap);
    in_parallel(out.size(), kSoftCapCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) y[i] = most * std::tanh(x[i] / most);
    });
    return out;
}

Explanation SoftCap::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const auto x = static_cast<double>(in[0].at(cell));
    const std::string text = "tanh(" + short_number(x) + " / " + short_number(cap) + ")";
    return {{line("capped", {term({constant_factor(cap, "cap"), derived_factor(std::tanh(x / cap), text, 0, cell)})})}};
}

}  // namespace decoderscope
