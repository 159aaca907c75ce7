#pragma once

#include "engine/trace/trace.h"

#include <string>
#include <string_view>
#include <vector>

// Low-rank adapters that weren't merged (LoRA; Hu et al., arXiv:2106.09685): a module that gives
// x · Wᵀ + bias + scale · x · downᵀ · upᵀ is a Linear whose weight is W + scale · up · down.
namespace decoderscope::trace {

struct Adapter {
    std::string module;
    std::string weight, bias, down, up;  // parameters; no bias is empty
    double scale = 0.0;                  // 0: it isn't used
};

// Among a trace's hyperparameters, before an adapter's module: its scale.
inline constexpr std::string_view kAdapter = "(adapter).";

// The adapters of a recorded model, as what their modules gave for what they were given tells.
[[nodiscard]] std::vector<Adapter> adapters_of(const Trace& trace);
// W + scale · up · down, either of which may be stored turned.
[[nodiscard]] Tensor merged(const Tensor& weight, const Tensor& down, const Tensor& up, double scale);
// Makes each of these modules a Linear: its parameters are "MODULE.weight" and "MODULE.bias", and it has no calls
// within.
void merge_adapters(Trace& trace);

}  // namespace decoderscope::trace
