#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

// What an operation declares about itself beyond its numbers. Code that draws, checks or records a step uses these
// facts and never asks which operation it is, so a new operation needs no change outside engine/.
namespace decoderscope {

// What an operand is to the operation that reads it. Optional operands may be absent, and an operand's number doesn't
// tell which one it is: code that needs the bias asks for it by role (Step::operand).
enum class OperandRole {
    // What is transformed: the x of a Linear, a norm or an activation.
    input,
    // What goes on, and what is added to it.
    stream,
    update,
    // A Linear's.
    weight,
    bias,
    // A norm's.
    scale,
    gain,
    shift,
    // An attention's; scores, mask and pattern are over [query, key].
    query,
    key,
    value,
    scores,
    mask,
    pattern,
    results,  // what each head adds to the stream
    // What a mask is combined from.
    padding_mask,
    custom_mask,
    segments,       // the document that each position belongs to
    dropout_mask,   // what dropout multiplies by
    gate,           // of a gated MLP
    expert,         // the numbers of the experts that were chosen
    expert_weight,  // how much each of them counts
    sinks,          // a score of each head that belongs to no key
    // What is looked up, and where.
    tokens,
    table,
    positions,  // the number of each position, if it isn't counted from the first
    // The rows of earlier positions, and those of new ones.
    kept,
    added,
    targets,  // what a loss compares with
    // On the backward pass: what an operation computed, and the gradient with respect to it.
    output,
    gradient,
};

// The role of an operand, from the roles in the order of operands. Operands after the last have its role.
[[nodiscard]] constexpr OperandRole role_in(std::initializer_list<OperandRole> roles, std::size_t operand) {
    return roles.begin()[operand < roles.size() ? operand : roles.size() - 1];
}

// The kind of numbers in the output.
enum class Values {
    any,
    as_first,      // the same kind as the main operand (Step::main_operand)
    non_negative,  // 0 and more
    mask,          // 1 = kept, 0 = hidden
    weights,       // from 0 to 1: how much of each; whether a row sums to 1 is another fact (Traits::sums_to_one)
};

// Replaces the cells that a mask hides by a value. Operands: scores, mask.
struct FillFacts {
    float value = 0.0F;
};

// Masks, as flags: those that are combined into one, or those that hide a cell.
using Masks = std::uint8_t;
namespace masked_by {
inline constexpr Masks causal = 1;
inline constexpr Masks window = 2;  // too far back for the sliding window
inline constexpr Masks padding = 4;
inline constexpr Masks custom = 8;     // the input's custom_mask
inline constexpr Masks segments = 16;  // of another document in the row
}  // namespace masked_by

// What a norm divides by: √(mean square about the centre + eps), or √(that) + eps. The centre is the row's mean, or 0.
// Operand: input.
struct ScaleFacts {
    bool centred = true;
    double eps = 0.0;
    bool eps_outside = false;  // added to the root, not under it
    bool unbiased = false;     // the mean is over n − 1

    bool operator==(const ScaleFacts&) const = default;

    // The scale of a row of n numbers, from the sum of their squared distances from the centre.
    [[nodiscard]] double scale_of(double squares, double n) const {
        const double spread = squares / (unbiased ? n - 1.0 : n);
        return eps_outside ? std::sqrt(spread) + eps : std::sqrt(spread + eps);
    }
};

// A norm: (x − centre) / scale · gain + shift. Operands: input, scale, gain, shift if any.
struct NormFacts {
    bool centred = true;
    float gain_offset = 0.0F;  // added to the weight to give the gain
};

// All of these. The defaults declare nothing.
struct Traits {
    Values values = Values::any;
    bool sums_to_one = false;         // along the last axis; not where part of it is given to what has no cell
    bool deferred = false;            // computed when its values are first read
    bool recorded_elsewhere = false;  // another program computed it: its numbers lie in a file, and nothing makes them
    bool passes_through = false;      // the output continues the stream: unchanged, or with the updates added to it
    bool is_linear = false;           // a Linear as it stands: input · weightᵀ + bias if any
    bool adds_heads = false;          // the output is the sum of what each head adds to the stream, and a bias if any
    bool must_hold = false;           // a check that a person wrote: no number is 0 or NaN
    std::optional<FillFacts> fill = std::nullopt;
    std::optional<Masks> masks = std::nullopt;
    std::optional<ScaleFacts> scale = std::nullopt;
    std::optional<NormFacts> norm = std::nullopt;
};

}  // namespace decoderscope
