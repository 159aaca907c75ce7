#pragma once

#include <optional>

// What an operation says of itself beyond its numbers. Whoever draws, checks or records a step asks for these facts and
// never which operation it is, so that a new operation needs no change outside engine/.
namespace decoderscope {

// Which numbers come out.
enum class Values {
    any,
    as_first,      // such as the first operand holds
    non_negative,  // 0 and more
    mask,          // 1 = kept, 0 = hidden
    weights,       // along the last axis: 0 and more, with the sum 1
};

// A mask's value in place of what it hides. Operands: what is filled, the mask.
struct FillFacts {
    float value = 0.0F;
};

// Which masks are combined into one.
struct MaskFacts {
    bool causal = false, padding = false, custom = false;
};

// What each mask by itself says of a cell; true = kept.
struct MaskVerdict {
    bool causal = true, padding = true, custom = true;
    [[nodiscard]] bool kept() const { return causal && padding && custom; }
};

// What a norm divides by: √(mean square about the centre + eps). The centre is the row's mean, or 0. Operand: x.
struct ScaleFacts {
    bool centred = true;
    double eps = 0.0;
};

// A norm: (x − centre) / scale · gain + shift. Operands: x, scale, gain, shift where there is one.
struct NormFacts {
    bool centred = true;
};

// All of these. The defaults say nothing.
struct Traits {
    Values values = Values::any;
    bool deferred = false;  // computed when its values are first read
    bool goes_on = false;   // the first operand goes on in the output: as it is, or with the others added to it
    std::optional<FillFacts> fill = std::nullopt;
    std::optional<MaskFacts> masks = std::nullopt;
    std::optional<ScaleFacts> scale = std::nullopt;
    std::optional<NormFacts> norm = std::nullopt;
};

}  // namespace decoderscope
