#pragma once

#include "engine/graph/operation.h"

#include <string>

namespace decoderscope::ops {

// Values that were recorded elsewhere, in place of computed ones: a block runs on another program's input.
// {anything, unread} -> the values' axes
struct Given {
    Tensor values;

    [[nodiscard]] OpDescription about() const;
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

}  // namespace decoderscope::ops
