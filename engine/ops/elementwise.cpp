#include "engine/ops/elementwise.h"

#include "engine/base/random.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::ops {

Explanation Given::explain(const Operands&, const Tensor&, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(values.at(cell)), tr("recorded"))})})}};
}

OpDescription Recorded::about() const {
    return {
        what.empty() ? std::string_view(tr("recorded elsewhere")) : std::string_view(what),
        code.empty() ? std::string_view(tr("recorded elsewhere: no weights to explain it")) : std::string_view(code),
        tr("Another program computed this, and only its result was recorded. The arrows lead to what it was "
           "computed from, as far as that was recorded, too; without the weights the computation can't be "
           "repeated. If the recording contains the parameters, it can be opened as a model.")};
}

Explanation Recorded::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    std::array<float, 1> value = {};
    out.copy(out.offset(cell), value);
    return {{line(tr("recorded elsewhere"), {term({constant_factor(static_cast<double>(value[0]), "")})})}};
}

namespace {

// to = x + scale · update, `size` numbers; a shorter update is repeated: positions are added to every row of the batch.
void add_to(const float* x, const Tensor& update, float scale, Index size, float* to) {
    const Index period = update.size();
    const float* added = update.data();
    for (Index start = 0; start < size; start += period) {
        in_parallel(period, kCopyCost, [&](Index begin, Index end) {
            const auto count = static_cast<std::size_t>(end - begin);
            if (scale == 1.0F)
                return row::add({x + start + begin, count}, {added + begin, count}, {to + start + begin, count});
            for (Index i = begin; i < end; ++i) to[start + i] = x[start + i] + scale * added[i];
        });
    }
}

}  // namespace

Tensor Add::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    const float* x = in[0].data();
    if (residual_scale != 1.0) {
        std::transform(x, x + out.size(), to,
                       [factor = static_cast<float>(residual_scale)](float v) { return factor * v; });
        x = to;
    }
    for (std::size_t i = 1; i < in.size(); ++i, x = to) {
        if (i > 1) round_all(out.writable(), sums_as);
        add_to(x, in[i], static_cast<float>(update_scale), out.size(), to);
    }
    return out;
}

Term Add::scaled_term(std::size_t operand, Factor factor) const {
    std::vector<Factor> factors = {std::move(factor)};
    if (scale_of(operand) != 1.0)
        factors.push_back(constant_factor(scale_of(operand), operand == 0 ? "residual_scale" : "update_scale"));
    return term(std::move(factors));
}

Explanation Add::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Cell tail(cell.end() - static_cast<std::ptrdiff_t>(in[i].rank()), cell.end());
        terms.push_back(scaled_term(i, cell_factor(in[i], i, tail)));
    }
    return {{line(tr("sum"), std::move(terms))}};
}

Tensor Add::pull_back(std::size_t operand, const Backward& b) const {
    const double scale = scale_of(operand);
    const Tensor& x = b.in[operand];
    if (x.size() == b.grad.size() && scale != 1.0)
        return scaled(b.grad, [&](std::size_t) { return scale; }).with_axes(x.axes());
    if (x.size() == b.grad.size()) return b.grad.with_axes(x.axes());
    // Broadcast along leading axes: what it did in each of them adds up.
    Tensor out(x.axes());
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) {
        double sum = 0.0;
        for (std::size_t at = i; at < static_cast<std::size_t>(b.grad.size()); at += to.size())
            sum += static_cast<double>(b.grad.data()[at]);
        to[i] = static_cast<float>(scale * sum);
    }
    return out;
}

Explanation Add::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    const Index period = b.in[operand].size();
    for (Index at = b.in[operand].offset(cell); at < b.grad.size(); at += period)
        terms.push_back(scaled_term(operand, b.grad_at(b.grad.cell(at))));
    return {{line("g", std::move(terms))}};
}

ByFormula Identity::formula() const {
    return {"carried[…] = x[…]", {{"x", OperandRole::stream}}, {}, tr("carried"), "carry"};
}

Tensor Identity::compute(const Operands& in, const Axes& axes) const { return in[0].with_axes(axes); }

Tensor Identity::pull_back(std::size_t, const Backward& b) const { return b.grad; }

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

}  // namespace decoderscope::ops
