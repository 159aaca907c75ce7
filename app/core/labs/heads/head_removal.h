#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"

#include <memory>
#include <string>
#include <vector>

// Which heads a run can do without: each one is switched off by itself, in all rows of the batch.
namespace decoderscope::core::heads {

struct HeadRemoval {
    std::string attention;  // "blocks.0.cross_attn"
    Index layer = 0, head = 0;
    Index changed = 0, lost = 0;  // predictions that change; positions that become NaN (app/core/run/output_moves.h)
    Index stays_nan = 0;          // positions that are NaN with and without it, which can't be compared
    double largest = 0.0;         // how far the output moves at most
};

// The heads of every attention, including the encoder's.
struct HeadRemovals {
    static constexpr std::size_t kKept = 2;

    std::string output;              // what moves: "logits"; empty for a run without any output
    bool predicts = false;           // it is logits: then predictions change
    Index positions = 0;             // that count
    std::vector<HeadRemoval> heads;  // those that are on, the one that changes least first
    std::size_t off = 0;             // heads that add nothing as it is
};

// From a run of these inputs: what the run would be without the head, its edits kept.
[[nodiscard]] Resumable<HeadRemovals> measure_removals(std::shared_ptr<const Run> run, Tensor attention_mask);

// Empty while it is being measured, and for a recording, which computes nothing.
[[nodiscard]] Value<HeadRemovals> shown_removals(Derived& derived, const Snapshot& shown);

// "5 of 24 heads can each be removed without changing a prediction. 1 more is off already."
[[nodiscard]] Sentence removals_sentence(const HeadRemovals& removals);
// "The 12 of 24 that change least, least first:" over a list of the first `listed`.
[[nodiscard]] Sentence listed_sentence(const HeadRemovals& removals, std::size_t listed);
// "the prediction would change at 2 of 20 positions; logits would move by at most 4.5"
[[nodiscard]] Sentence removal_sentence(const HeadRemovals& removals, const HeadRemoval& removal);

}  // namespace decoderscope::core::heads
