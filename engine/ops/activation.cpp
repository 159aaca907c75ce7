#include "engine/ops/activation.h"

#include "engine/base/parallel.h"
#include "engine/base/tables.h"
#include "engine/formulas/book.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace decoderscope::ops {

namespace {

// What computes an activation faster than its formula.
struct Kernel {
    ActivationKind kind;
    void (*of_row)(row::In, row::Out);
    void (*back)(row::In, row::In, row::Out);  // {pre, gradient} -> the gradient with respect to pre
};
constexpr std::array kKernels = {
    Kernel{ActivationKind::relu, row::relu, row::relu_back},
    Kernel{ActivationKind::gelu, row::gelu, row::gelu_back},
    Kernel{ActivationKind::gelu_tanh, row::gelu_tanh, row::gelu_tanh_back},
    Kernel{ActivationKind::silu, row::silu, row::silu_back},
};

const Kernel* kernel_of(ActivationKind kind) {
    const auto* found = std::ranges::find(kKernels, kind, &Kernel::kind);
    return found == kKernels.end() ? nullptr : found;
}

constexpr Index kActivationCost = 20;  // of one number, in multiply-adds

template <class Number>
std::span<Number> part(std::span<Number> values, Index begin, Index end) {
    return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

// Whether it is a square or at least 0, as it is written.
bool is_never_negative(const formulas::Expr& e) {
    using formulas::Op;
    if (e->is(Op::power)) {
        const auto* exponent = (*e)[1]->as<formulas::Literal>();
        return exponent != nullptr && exponent->value == 2.0;
    }
    const auto is_zero = [](const formulas::Expr& x) {
        const auto* number = x->as<formulas::Literal>();
        return number != nullptr && number->value == 0.0;
    };
    return e->is(Op::max) && std::ranges::any_of(e->children, is_zero);
}

}  // namespace

const std::vector<ActivationKind>& activations() {
    static const auto all = [] {
        std::vector<ActivationKind> kinds;
        for (const auto& entry : asset_table("words")["activation"].items()) kinds.push_back({entry.key()});
        return kinds;
    }();
    return all;
}

std::optional<ActivationKind> activation_named(std::string_view key, std::string_view name,
                                               std::optional<std::string_view> approximate) {
    const OrderedJson& table = asset_table("words")["activation"];
    for (const ActivationKind kind : activations()) {
        const OrderedJson& entry = table.at(kind.name);
        const auto names = entry.value(key, std::vector<std::string>());
        const bool fits = !approximate || entry.value("approximate", *approximate) == *approximate;
        if (fits && std::ranges::find(names, name) != names.end()) return kind;
    }
    return std::nullopt;
}

ByFormula Activate::formula() const {
    // swiglu_clamped is silu if there is only one number.
    const std::string_view name = kind == ActivationKind::swiglu_clamped ? ActivationKind::silu.name : kind.name;
    return {"post[…, m] = " + std::string(name) + "(pre[…, m])", {"pre"}, {}, {}, name};
}

Traits Activate::traits() const {
    const auto& functions = formulas::the_book().functions;
    const auto found = functions.find(kind.name);
    const bool from_zero = found != functions.end() && is_never_negative(found->second.main.body);
    return {.values = from_zero ? Values::non_negative : Values::any};
}

Tensor Activate::compute(const Operands& in, const Axes& axes) const {
    const Kernel* kernel = kernel_of(kind);
    if (kernel == nullptr) return formula().compute(in, axes);
    Tensor out(axes);
    const row::In from = in[0].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost,
                [&](Index begin, Index end) { kernel->of_row(part(from, begin, end), part(to, begin, end)); });
    return out;
}

Tensor Activate::pull_back(std::size_t operand, const Backward& b) const {
    const Kernel* kernel = kernel_of(kind);
    if (kernel == nullptr) return formula().pull_back(operand, b);
    Tensor out(b.grad.axes());
    const row::In pre = b.in[0].values(), grad = b.grad.values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost, [&](Index begin, Index end) {
        kernel->back(part(pre, begin, end), part(grad, begin, end), part(to, begin, end));
    });
    return out;
}

Tensor ActivateGated::compute(const Operands& in, const Axes& axes) const {
    const Kernel* kernel = kernel_of(kind);
    if (kernel == nullptr) return formula().compute(in, axes);
    Tensor out(axes);
    const row::In pre = in[0].values(), gate = in[1].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost, [&](Index begin, Index end) {
        const row::Out some = part(to, begin, end);
        kernel->of_row(part(gate, begin, end), some);
        row::multiply(some, part(pre, begin, end), some);
    });
    return out;
}

}  // namespace decoderscope::ops
