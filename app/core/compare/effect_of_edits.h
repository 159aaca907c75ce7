#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope::core::diff {

// One number of the output, before and after.
struct ValueChange {
    Index index = 0;  // in vocab or d_model
    float before = 0.0F, after = 0.0F;
};

// The numbers of one position that moved most, the furthest first; those that did not move are left out.
[[nodiscard]] std::vector<ValueChange> largest_changes(const Tensor& before, const Tensor& after, Index batch,
                                                       Index position, std::size_t most);

// How far the edits of a run reach: which of its steps differ from the unedited run, and how that changed the output.
struct Reach {
    // By step: a number of it differs from the unedited run's (distance_between in app/core/run/comparison.h).
    std::vector<std::uint8_t> changed;
    Index changed_tensors = 0, tensors = 0;  // of the recorded ones, as a trace and Compare have them
    Index nan_tensors = 0;                   // those that were computed anew and differ in no number, but hold NaN
    std::optional<StepId> first;             // of the changed steps that are computed
    OutputMoves moves;

    [[nodiscard]] bool has(StepId step) const { return step < changed.size() && changed[step] != 0; }
};

// Compares a run with the same without edits. Steps that share their storage are equal at once; of others the numbers
// are compared, up to the first that differs. A large step whose numbers don't exist (it is recomputed on demand)
// counts as changed if a step that it reads does.
[[nodiscard]] Resumable<Reach> reach_of(std::shared_ptr<const Run> unedited, std::shared_ptr<const Run> run,
                                        Tensor attention_mask);
// As above, from the cache; empty if there are no edits, and while it is being compared.
[[nodiscard]] Value<Reach> shown_reach(Derived& derived, const Snapshot& shown);

// What the edits did to the output, and against what, in one sentence: "Against the same run without edits: logits
// moved by at most 1.88; no prediction changed."
[[nodiscard]] Sentence reach_sentence(const Scenario& scenario, const Reach& reach);
// "16 of 111 tensors changed, first blocks.0.attn.z"; empty if none did.
[[nodiscard]] Sentence changed_tensors_sentence(const Run& run, const Reach& reach);

// How far apart the outputs of two runs of this scenario's inputs are; empty while they are being compared.
[[nodiscard]] Value<OutputMoves> shown_output_moves(Derived& derived, const Scenario& scenario,
                                                    const std::shared_ptr<const Run>& before,
                                                    const std::shared_ptr<const Run>& after);

}  // namespace decoderscope::core::diff
