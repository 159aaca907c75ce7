#pragma once

#include "app/core/tabs/step/stream_writes.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <optional>
#include <vector>

namespace decoderscope::core::ask {

// Direct logit attribution: a logit as a sum of what each head, each MLP and the embedding wrote into the stream, only
// along the stream and with the final norm's own scale (app/core/tabs/step/vector_reading.h). The terms sum to the
// logit, before a soft cap: where an edit set or scaled cells of the stream itself, what it changed is a term of its
// own.
using step::Contributor;

struct Contribution : step::Writer {
    double logit = 0.0;
};

struct Attribution {
    std::vector<Contribution> terms;  // in the order of computation
    double sum = 0.0;                 // of the terms: the logit, or the difference of the two
    double logit = 0.0;               // as the run has it
};

// Why a run's logits have no attribution; empty if they have one.
[[nodiscard]] Sentence attribution_obstacle(const Run& run);

// The logit of a token at a position, or with `minus` the difference from another token's. There must not be an
// obstacle.
[[nodiscard]] Attribution direct_attribution(const Run& run, Index batch, Index position, Index token,
                                             std::optional<Index> minus = std::nullopt);

}  // namespace decoderscope::core::ask
