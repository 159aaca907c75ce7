#pragma once

#include <optional>

// What an operation declares about itself beyond its numbers. Code that draws, checks or records a step uses these
// facts and never asks which operation it is, so a new operation needs no change outside engine/.
namespace decoderscope {

// The kind of numbers in the output.
enum class Values {
    any,
    as_first,      // the same kind as the first operand
    non_negative,  // 0 and more
    mask,          // 1 = kept, 0 = hidden
    weights,       // 0 and more, summing to 1 along the last axis
};

// Replaces the cells that a mask hides by a value. Operands: the tensor to fill, the mask.
struct FillFacts {
    float value = 0.0F;
};

// Which masks are combined into one.
struct MaskFacts {
    bool causal = false, padding = false, custom = false;
};

// Whether each mask by itself keeps a cell.
struct MaskVerdict {
    bool causal = true, padding = true, custom = true;
    [[nodiscard]] bool kept() const { return causal && padding && custom; }
};

// What a norm divides by: √(mean square about the centre + eps). The centre is the row's mean, or 0. Operand: x.
struct ScaleFacts {
    bool centred = true;
    double eps = 0.0;
};

// A norm: (x − centre) / scale · gain + shift. Operands: x, scale, gain, shift if any.
struct NormFacts {
    bool centred = true;
};

// All of these. The defaults declare nothing.
struct Traits {
    Values values = Values::any;
    bool deferred = false;  // computed when its values are first read
    bool goes_on = false;   // the output continues the first operand: unchanged, or with the others added to it
    std::optional<FillFacts> fill = std::nullopt;
    std::optional<MaskFacts> masks = std::nullopt;
    std::optional<ScaleFacts> scale = std::nullopt;
    std::optional<NormFacts> norm = std::nullopt;
};

}  // namespace decoderscope
