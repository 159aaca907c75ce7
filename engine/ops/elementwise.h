#pragma once

#include "engine/base/parallel.h"
#include "engine/ops/formula.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <string>

namespace decoderscope::ops {

// What a number costs in gradients that are computed cell by cell, in multiply-adds.
inline constexpr Index kStraightCost = 8;
inline constexpr Index kCurvedCost = 50;  // with an exponential

// grad · derivative, cell by cell.
template <class Slope>
[[nodiscard]] Tensor scaled(const Tensor& grad, const Slope& slope, Index cost = kStraightCost) {
    Tensor out(grad.axes());
    const float* from = grad.data();
    float* to = out.writable().data();
    in_parallel(out.size(), cost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            to[i] = static_cast<float>(static_cast<double>(from[i]) * slope(static_cast<std::size_t>(i)));
    });
    return out;
}

// What a sublayer adds to the stream, column by column times a gain that is learned (LayerScale; Touvron et al. 2021).
// {x [batch, pos, d_model], gain [d_model]} -> the axes of x
struct LayerScale {
    [[nodiscard]] ByFormula formula() const { return {"layer_scale", {"x", "gain"}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const LayerScale&) const = default;
};

// Values that were recorded elsewhere, in place of computed ones: a block runs on another program's input.
// {anything, unread} -> the values' axes
struct Given {
    Tensor values;

    [[nodiscard]] OpDescription about() const { return described("given"); }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return values.axes(); }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands&, const Axes& axes) const { return values.with_axes(axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const Given& other) const { return values.shares_values_with(other.values); }
};

// What another program computed, without what it was computed with: its operands are known, its weights are not.
// {what it was computed from, as far as that was recorded} -> the values' axes
struct Recorded {
    Tensor values;  // in the recorded file until they are read
    Values kind = Values::any;
    std::string what;  // the function or the module's class: "softmax", "Linear"; empty if not known
    std::string
        code;  // the line of the recorded program: "model.py:57: att = F.softmax(att, dim=2)"; empty if not known

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return values.axes(); }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands&, const Axes& axes) const { return values.with_axes(axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Traits traits() const {
        return {.values = kind, .sums_to_one = kind == Values::weights, .recorded_elsewhere = true};
    }
    bool operator==(const Recorded& other) const {
        return kind == other.kind && what == other.what && values.shares_values_with(other.values);
    }
};

// The sum of a tensor and any number of others, added to it from left to right. Each of these may lack leading axes of
// the first, and is then broadcast along them.
// The first is multiplied by `residual_scale` (DeepNorm's α, Wang et al. 2022), the others by `update_scale` (Granite).
// {x [batch, pos, d_model], update [batch, pos, d_model] or [pos, d_model], …} -> [batch, pos, d_model]
struct Add {
    double residual_scale = 1.0, update_scale = 1.0;
    Arithmetic sums_as = Arithmetic::float32;  // each addition is rounded to it

    [[nodiscard]] OpDescription about() const { return described(label()); }
    // What it computes from two tensors of the same axes.
    [[nodiscard]] ByFormula formula() const {
        const std::string x = residual_scale == 1.0 ? "x[b, p, d]" : "residual_scale · x[b, p, d]";
        const std::string more = update_scale == 1.0 ? "update[b, p, d]" : "update_scale · update[b, p, d]";
        return {"y[b, p, d] = " + x + " + " + more,
                {{"x", OperandRole::stream}, {"update", OperandRole::update}},
                {{"residual_scale", residual_scale}, {"update_scale", update_scale}}};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::stream, OperandRole::update}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Add rounding_within(Arithmetic type) const { return {residual_scale, update_scale, type}; }
    [[nodiscard]] ByRow by_row() const { return {{true, true, true, true}, true}; }
    [[nodiscard]] Traits traits() const { return {.passes_through = true}; }
    // An addition for each update, and a product for each that is scaled.
    [[nodiscard]] Work work(const OperandAxes& in, const Axes& out) const {
        const auto updates = static_cast<Index>(in.size()) - 1;
        const Index products = (residual_scale == 1.0 ? 0 : 1) + (update_scale == 1.0 ? 0 : updates);
        return reading_all(in, (updates + products) * element_count(out));
    }
    [[nodiscard]] Work pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const {
        return reading_gradient(in, out, scale_of(operand) == 1.0 ? 0 : element_count(out));
    }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const {
        return gradient_described(label(), operand == 0 ? "x" : "update");
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Add&) const = default;

private:
    [[nodiscard]] std::string_view label() const {
        if (residual_scale == 1.0) return update_scale == 1.0 ? "residual" : "residual_update";
        return update_scale == 1.0 ? "residual_scaled" : "residual_both";
    }
    [[nodiscard]] double scale_of(std::size_t operand) const { return operand == 0 ? residual_scale : update_scale; }
    // A number of an operand, times its scale.
    [[nodiscard]] Term scaled_term(std::size_t operand, Factor factor) const;
};

// Passes a tensor on under another name; the values are shared, not copied.   {x} -> same axes
struct Identity {
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::as_first, .passes_through = true}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Identity&) const = default;
};

// Multiplies every number by a factor of the configuration (Cohere's logit_scale, Granite's 1 / logits_scaling).
// {x} -> the same axes
struct Rescale {
    double factor = 1.0;
    std::string_view key;  // the configuration's name for it: "logit_scale"

    [[nodiscard]] ByFormula formula() const { return {"rescale", {"x"}, {{"factor", factor, key}}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Elementwise: the output changes exactly where x changes, columns included.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    bool operator==(const Rescale&) const = default;
};

// Keeps numbers between −cap and cap: cap · tanh(x / cap), which leaves small ones nearly as they are (Gemma 2, 2024).
// {x} -> the same axes
struct SoftCap {
    double cap = 50.0;

    [[nodiscard]] ByFormula formula() const { return {"soft_cap", {"x"}, {{"limit", cap}}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] SoftCap of_head(const Head&) const { return *this; }
    // Elementwise: the output changes exactly where x changes, columns included.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    bool operator==(const SoftCap&) const = default;
};

// Cuts numbers off at ±limit (OLMo's clip_qkv).   {x} -> the same axes
struct Clip {
    double limit = 8.0;

    [[nodiscard]] ByFormula formula() const { return {"clip", {"x"}, {{"limit", limit}}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Elementwise: the output changes at most where x changes.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    bool operator==(const Clip&) const = default;
};

// 1 / (1 + exp(−x)): turns each number into one between 0 and 1.   {x} -> the same axes
struct Sigmoid {
    [[nodiscard]] ByFormula formula() const { return {"sigmoid", {"x"}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative}; }
    bool operator==(const Sigmoid&) const = default;
};

// Multiplies each row by a number of its own.   {x [batch, pos, d], weight [batch, pos, 1]} -> [batch, pos, d]
struct ScaleRows {
    [[nodiscard]] ByFormula formula() const { return {"scale_rows", {"x", {"weight", OperandRole::gate}}}; }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const ScaleRows&) const = default;
};

// What dropout multiplies by: 0 with probability p, otherwise 1/(1 − p) (Srivastava et al. 2014, in torch.nn.Dropout's
// "inverted" form). The numbers come from the seed and the mask's own name.   {} -> `shape`
struct DropoutMask {
    Axes shape;
    double p = 0.0;
    std::uint64_t seed = 0;
    std::string name;

    [[nodiscard]] OpDescription about() const { return described("dropout_mask"); }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return shape; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative}; }
    bool operator==(const DropoutMask&) const = default;
};

// {x, mask of the same axes} -> x · mask
struct Drop {
    [[nodiscard]] ByFormula formula() const { return {"dropout", {"x", {"mask", OperandRole::dropout_mask}}}; }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Drop of_head(const Head&) const { return *this; }
    [[nodiscard]] Traits traits() const { return {.values = Values::as_first}; }
    bool operator==(const Drop&) const = default;
};

}  // namespace decoderscope::ops
