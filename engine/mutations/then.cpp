#include "engine/mutations/then.h"

#include <algorithm>

namespace decoderscope {

namespace {

OperandAxes axes_of(const Operands& in, std::size_t count) {
    OperandAxes axes;
    for (std::size_t i = 0; i < count; ++i) axes.push_back(in[i].axes());
    return axes;
}

}  // namespace

Axes Then::axes(const OperandAxes& in) const {
    const auto split = in.begin() + static_cast<std::ptrdiff_t>(std::min(read_by_first, in.size()));
    OperandAxes second_reads = {first.axes(OperandAxes(in.begin(), split))};
    second_reads.insert(second_reads.end(), split, in.end());
    return second.axes(second_reads);
}

Tensor Then::between(const Operands& in) const {
    const std::size_t count = std::min(read_by_first, in.size());
    Operands read;
    for (std::size_t i = 0; i < count; ++i) read.add(in[i]);
    return first.compute(read, first.axes(axes_of(in, count)));
}

Tensor Then::compute(const Operands& in, const Axes& axes) const {
    const Tensor made = between(in);
    Operands read;
    read.add(made);
    for (std::size_t i = read_by_first; i < in.size(); ++i) read.add(in[i]);
    return second.compute(read, axes);
}

// The second operation's explanation. What lies between has no name, so its cells are numbers without a place.
Explanation Then::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const Tensor made = between(in);
    Operands read;
    read.add(made);
    for (std::size_t i = read_by_first; i < in.size(); ++i) read.add(in[i]);
    Explanation explanation = second.explain(read, out, cell);
    const auto place = [&](Factor& factor) {
        if (!factor.cell) return;
        if (factor.cell->operand == 0) {
            if (factor.text.empty()) factor.text = short_number(factor.value);
            factor.cell.reset();
        } else {
            factor.cell->operand += read_by_first - 1;
        }
    };
    for (Line& line : explanation.lines) {
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) place(factor);
        for (Factor& factor : line.given) place(factor);
    }
    return explanation;
}

}  // namespace decoderscope
