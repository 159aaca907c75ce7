#pragma once

#include "engine/ops/formula.h"

// Softmax with a sink: one more score beside those of the keys, a learned number of the head, whose weight goes to no
// key (Miller 2023; gpt-oss). A head that has nothing to look for can thus attend to nothing.
namespace decoderscope::ops {

// The keys' weights. With the sink's they add up to 1; a row of −∞ is 0.
// {scores [batch, head, query, key], sinks [head]} -> the scores' axes
struct SoftmaxWithSink {
    [[nodiscard]] ByFormula formula() const { return {"softmax_sink", {{"x", OperandRole::scores}, "sink"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] SoftmaxWithSink of_head(const Head&) const { return *this; }
    [[nodiscard]] Traits traits() const { return {.values = Values::weights}; }
    bool operator==(const SoftmaxWithSink&) const = default;
};

// The sink's weight. Nothing reads it.
// {scores [batch, head, query, key], sinks [head]} -> [batch, head, query, 1]
struct SinkWeight {
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], in[0][2], {axis::one, 1}}; }
    [[nodiscard]] ByFormula formula() const { return {"sink", {{"x", OperandRole::scores}, "sink"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative}; }
    bool operator==(const SinkWeight&) const = default;
};

}  // namespace decoderscope::ops
