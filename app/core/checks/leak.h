#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace decoderscope::core::checks {

// The leak test: changes one position of the decoder's input, and compares every recorded tensor of the decoder with
// its value before. Under an intact causal mask nothing before that position moves.

// What to compute alongside the run for it: another token at a position (the next one in the vocabulary), or its row of
// x with the opposite sign (0 becomes 1), on top of all edits.
[[nodiscard]] Variation leak_variation(const Scenario& scenario, const Run& run, Index batch, Index position);

// The index of the decoder's positions among a step's axes; -1 if it has none: an encoder's or a memory's positions are
// not the decoder's, nor are those of a row of one's own, which the model doesn't read.
[[nodiscard]] std::ptrdiff_t position_axis(const Step& step);

// How many positions of padding a row begins with, by its mask [batch, pos]. They see nothing, whatever is computed for
// them.
[[nodiscard]] Index leading_padding(const Tensor& mask, Index row);

// How one position moved.
struct Moved {
    float largest = 0.0F;    // the largest change of any of its numbers; ∞ if one is NaN in only one of the runs
    std::string largest_in;  // the tensor that it was found in; empty if nothing moved
    std::string first_in;    // the first tensor, in the order of computation, in which anything of it moved
    bool blind = false;      // it holds NaN before and after, so that a change cannot be seen
};
struct Leak {
    Index changed = 0;         // the position
    std::vector<Moved> moved;  // [pos]
    std::size_t tensors = 0;   // how many were compared
    // Over the positions before the changed one: the test's result.
    float earlier = 0.0F;
    Index earlier_moved = 0;  // how many of them moved
    Index earlier_blind = 0;  // how many hold NaN before and after
    std::string worst_in;     // the tensor with the largest of those changes; empty if there is none
};

// Compares a batch row of two runs of the same plan. Pauses now and then. Raw scores count only where the mask keeps
// them: a score against a later key is computed first and hidden afterwards. The encoder and the cross-attention's
// memory are left out: they don't belong to the decoder's positions. So is padding that a row begins with: it sees
// nothing, and what is computed for it is read by nothing.
[[nodiscard]] Resumable<Leak> leak_between(std::shared_ptr<const Run> run, std::shared_ptr<const Run> changed,
                                           Index batch, Index position);

// From which positions of a batch row something leaks back.
struct LeaksBack {
    std::vector<Index> from;   // changing one of these moves an earlier one
    std::vector<float> moved;  // [changed, position]: the largest change of any of a position's numbers
    bool blind = false;        // somewhere a change can't be seen, as there is NaN before and after
    bool complete = false;     // every position was changed; otherwise none was, as it would take minutes
};

// Changes every position in turn, each in a run of its own: a leak that a change of the last position shows need not be
// the only one.
[[nodiscard]] Resumable<LeaksBack> leaks_back(Scenario scenario, std::shared_ptr<const Run> run, Index batch);

}  // namespace decoderscope::core::checks
