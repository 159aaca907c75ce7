#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/scenario.h"
#include "app/core/session/snapshot.h"
#include "engine/message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

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

}  // namespace decoderscope
