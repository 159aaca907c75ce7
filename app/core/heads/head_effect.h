#pragma once

#include "engine/run.h"

#include <optional>
#include <vector>

namespace decoderscope {

// The decoder's final output: the logits, else the last recorded [batch, pos, d_model] of the decoder
// (ln_final.normalized, or the last block's output). nullptr for a plan without either.
[[nodiscard]] Ref output_step(const Plan& plan);

// How far the output of one position moved between two runs.
struct PositionEffect {
    double largest = 0.0;  // max |after − before| over d_model or vocab
    double norm = 0.0;     // the L2 norm of after − before
    // If the output is logits: the most likely token before and after.
    Index top_before = 0, top_after = 0;
};

// For every position of one batch row. `before` and `after` are [batch, pos, …] of the same shape. A number that is NaN
// in both has not moved; one that is NaN in only one makes both measures NaN.
[[nodiscard]] std::vector<PositionEffect> position_effects(const Tensor& before, const Tensor& after, Index batch);

// One number of the output, before and after.
struct ValueChange {
    Index index = 0;  // in vocab or d_model
    float before = 0.0F, after = 0.0F;
};

// The numbers of one position that moved most, the furthest first; those that did not move are left out.
[[nodiscard]] std::vector<ValueChange> largest_changes(const Tensor& before, const Tensor& after, Index batch,
                                                       Index position, std::size_t most);

// The position that moved furthest by its largest change; nothing if none moved.
[[nodiscard]] std::optional<std::size_t> furthest(const std::vector<PositionEffect>& effects);

}  // namespace decoderscope
