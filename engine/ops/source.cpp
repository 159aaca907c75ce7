#include "engine/ops/source.h"

#include "engine/translate.h"

#include <stdexcept>

namespace decoderscope {

About Source::about() const {
    return {tr("given"), tr("a weight or an input: read, not computed"),
            tr("Here the trail ends: this number was learned in training, drawn at random, or typed in by you.")};
}

Axes Source::axes(const OperandAxes&) const { return {}; }

Tensor Source::compute(const Operands&, const Axes&) const { throw std::logic_error("a source is never computed"); }

Explanation Source::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(out.at(cell)), "")})})}};
}

}  // namespace decoderscope
