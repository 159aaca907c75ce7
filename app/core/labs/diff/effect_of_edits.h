#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::diff {

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

// How far the edits of a run reach: which of its steps differ from the unedited run, and what that did to the output.
struct Reach {
    std::vector<std::uint8_t> changed;   // by step: a number of it differs, bit for bit
    Index changed_steps = 0, steps = 0;  // of those that are computed
    std::optional<StepId> first;         // of the changed ones

    std::string output;     // "logits", else the last tensor of the stream; empty if there is none
    bool predicts = false;  // the output is logits
    bool output_changed = false;
    double largest = 0.0;  // how far a number of it moved at most; ∞ and NaN only where that is so
    Index lost = 0;        // positions that hold NaN now and didn't
    Index positions = 0;   // positions compared: all that are not padding
    struct Change {
        Index batch = 0, position = 0;
        Index before = 0, after = 0;  // tokens
    };
    std::vector<Change> changes;  // of the predictions, in order

    [[nodiscard]] bool has(StepId step) const { return step < changed.size() && changed[step] != 0; }
};

// Compares a run with the same without edits. Steps that share their storage are equal at once; of others the numbers
// are compared, up to the first that differs. A large step whose numbers don't exist (it is recomputed on demand)
// counts as changed if a step that it reads does.
[[nodiscard]] Resumable<Reach> reach_of(std::shared_ptr<const Run> unedited, std::shared_ptr<const Run> run,
                                        Tensor attention_mask);
// The same from the cache; empty if there are no edits, and while it is being compared.
[[nodiscard]] Value<Reach> shown_reach(Derived& derived, const Snapshot& shown);

// What the edits did to the output, in one sentence: "logits moved by at most 1.88; no prediction changed".
[[nodiscard]] Sentence reach_sentence(const Scenario& scenario, const Reach& reach);

}  // namespace decoderscope::core::diff
