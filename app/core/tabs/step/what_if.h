#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::step {

// Something to try beside a cell's explanation: the run with one thing done differently.
struct WhatIf {
    std::string id;  // "scale", "fill -1e9": never shown
    Sentence label;  // "without 1/√d_head"
    Variation variation;
    // Whether it changes how hidden keys are filled: then a query that sees nothing is shown, too.
    bool is_fill = false;

    bool operator==(const WhatIf&) const = default;
};

// What can be tried at a cell of a step. It follows from what the step is: its attention, its mask, its part. `place`
// says batch and head for steps without these axes.
[[nodiscard]] std::vector<WhatIf> what_ifs(const Scenario& scenario, const Run& run, const Step& step, const Cell& cell,
                                           Place place);

// Cached for a window.
struct ShownWhatIfs {
    std::vector<WhatIf> offers;
};
[[nodiscard]] Value<ShownWhatIfs> shown_what_ifs(Derived& derived, const Snapshot& shown, const Step& step,
                                                 const Cell& cell, Place place);

// The run in which the query of this cell sees no key at all; nothing for cells of no query.
[[nodiscard]] std::optional<Variation> blind_query(const Scenario& scenario, const Step& step, const Cell& cell,
                                                   Place place);

// A number now and in the other run.
struct NowAndIf {
    float now = 0.0F, then = 0.0F;
};
// A row of an attention's pattern now and if.
struct PatternRow {
    std::string tensor;              // "blocks.0.attn.pattern"
    std::vector<std::string> keys;   // [key]: "key 3 “a”"
    std::vector<NowAndIf> weights;   // [key]
    std::vector<std::size_t> moved;  // the keys whose weight moved, the furthest first

    // The weight of every key, if all are the same (or none is a number).
    [[nodiscard]] std::optional<float> of_every_key_now() const;
    [[nodiscard]] std::optional<float> of_every_key_then() const;
};
// What the model predicts at a position, now and in the other run.
struct SaysNowAndIf {
    Index position = 0;
    std::optional<Index> token_now, token_then;  // nothing if a logit is NaN
    double probability_now = 0.0, probability_then = 0.0;
};

struct WhatIfEffect {
    std::optional<NowAndIf> cell;      // nothing if the other run has no such cell
    std::optional<PatternRow> row;     // of the cell's query; nothing outside attentions
    std::optional<SaysNowAndIf> says;  // nothing without logits, and for the encoder's cells
    OutputMoves moves;                 // of all rows of the batch

    // Whether no number above changed.
    [[nodiscard]] bool nothing_changed() const;
};

// Compares two runs at a cell of a step of `now`.
[[nodiscard]] WhatIfEffect what_if_effect(const Scenario& scenario, const Run& now, const Run& then, const Step& step,
                                          const Cell& cell, Place place);

// Cached for a window.
[[nodiscard]] Value<WhatIfEffect> shown_effect(Derived& derived, const Scenario& scenario,
                                               const std::shared_ptr<const Run>& now,
                                               const std::shared_ptr<const Run>& then, const Step& step,
                                               const Cell& cell, Place place);

// Why changing the fill changes nothing if every query sees something.
[[nodiscard]] Sentence why_fill_changes_nothing();

}  // namespace decoderscope::core::step
