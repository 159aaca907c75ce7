#pragma once

#include "engine/tensor/tensor.h"

#include <optional>

namespace decoderscope::trace {

// Where in a recorded tensor one of ours is, beyond what the two shapes say.
struct Placed {
    Index first_column = 0, columns = 0;  // some of its last axis; 0 columns: all
    bool turned = false;                  // its last two axes are swapped: keys are columns
    bool inverted = false;                // a mask with 1 for what is hidden
    Index head = -1;                      // it is one head of ours
    bool broadcast = false;               // axes that are missing or 1 stand for all
    bool first_of_batch = false;          // ours has no batch: positions
    bool last_rows = false;               // it may have the last positions alone: what comes next is read from there
    bool in_turn = false;                 // in each head the columns of both halves: RoPE of neighbouring columns
    bool swapped = false;                 // in each head the second half's columns first: RoPE that turns the other way
    bool operator==(const Placed&) const = default;
};

// A recorded tensor and ours in one shape, so that they can be compared number by number.
struct LaidOut {
    Tensor ours, theirs;  // of the same shape
};

// Rearranges a recorded tensor to ours: heads joined, apart or in front, [pos, batch, …], axes of 1, rows of all batch
// elements in one axis, key heads repeated for every query head. Nothing if the shapes don't fit in any of these ways.
[[nodiscard]] std::optional<LaidOut> laid_out(const Tensor& ours, const Tensor& theirs, const Placed& placed);
// Key heads [batch, head, pos, column] of these axes, of which theirs repeats each: neighbours are the same, or, if it
// was tiled, heads that are as many apart as there are. Theirs, if it repeats none.
[[nodiscard]] Tensor without_repeats(const Tensor& theirs, const Axes& axes);
// Whether the shapes fit, without reading a number.
[[nodiscard]] bool can_be_laid_out(const Axes& ours, const Axes& theirs, const Placed& placed);

}  // namespace decoderscope::trace
