#pragma once

#include <cmath>
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
    bool causal = false, padding = false, custom = false, window = false;
};

// Whether each mask by itself keeps a cell.
struct MaskVerdict {
    bool causal = true, padding = true, custom = true, window = true;
    [[nodiscard]] bool kept() const { return causal && padding && custom && window; }
};

// What a norm divides by: √(mean square about the centre + eps), or √(that) + eps. The centre is the row's mean, or 0.
// Operand: x.
struct ScaleFacts {
    bool centred = true;
    double eps = 0.0;
    bool eps_outside = false;  // added to the root, not under it
    bool unbiased = false;     // the mean is over n − 1

    // The scale of a row of n numbers, from the sum of their squared distances from the centre.
    [[nodiscard]] double scale_of(double squares, double n) const {
        const double spread = squares / (unbiased ? n - 1.0 : n);
        return eps_outside ? std::sqrt(spread) + eps : std::sqrt(spread + eps);
    }
};

// A norm: (x − centre) / scale · gain + shift. Operands: x, scale, gain, shift if any.
struct NormFacts {
    bool centred = true;
    float gain_offset = 0.0F;  // added to the weight to give the gain
};

// All of these. The defaults declare nothing.
struct Traits {
    Values values = Values::any;
    bool deferred = false;            // computed when its values are first read
    bool recorded_elsewhere = false;  // another program computed it: its numbers lie in a file, and nothing makes them
    bool goes_on = false;  // the output continues the first operand: unchanged, or with the others added to it
    std::optional<FillFacts> fill = std::nullopt;
    std::optional<MaskFacts> masks = std::nullopt;
    std::optional<ScaleFacts> scale = std::nullopt;
    std::optional<NormFacts> norm = std::nullopt;
};

}  // namespace decoderscope
