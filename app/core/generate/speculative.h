#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace decoderscope::core::generate {

// Speculative decoding (Leviathan et al. 2023, Chen et al. 2023): a cheaper model drafts a few tokens, and the model
// itself reads all of them in one pass. With q(x) the draft's probability of a drafted token and p(x) the model's, the
// token is accepted with probability min(1, p(x) / q(x)). In place of the first that is not accepted, one is drawn from
// max(0, p − q), scaled to sum to 1; after tokens that are all accepted, one is drawn from p. What is written has the
// model's own distribution; only how many passes it takes depends on the draft. What the caches hold of tokens that
// were not accepted is cut off.
struct Speculation {
    Index drafted = 4;  // tokens that are drafted at a time
    Index length = 16;  // tokens that are written at most
    Sampling sampling;  // of both models
    bool operator==(const Speculation&) const = default;
};
inline constexpr Index kMostDrafted = 64, kMostSpeculated = 4096;

// Throws Error naming the setting that is out of range.
void check_speculation(const Speculation& speculation);

struct DraftedToken {
    Index token = 0;
    double of_draft = 0.0, of_model = 0.0;  // q and p, after temperature and cuts
    double number = 0.0;                    // from [0, 1): accepted below p / q
    bool accepted = false;

    [[nodiscard]] double accepted_below() const { return of_model < of_draft ? of_model / of_draft : 1.0; }
};

// One pass of the model.
struct SpeculatedRound {
    std::vector<DraftedToken> drafted;  // up to the first that is not accepted, and those after it, which nobody judged
    std::size_t accepted = 0;
    std::optional<Index>
        then;               // drawn in place of a rejected token, or after all of them; nothing if the text has ended
    double of_model = 0.0;  // p of that token
};

struct Speculated {
    std::vector<SpeculatedRound> rounds;
    std::vector<Index> tokens;  // all that were written
    Index draft_passes = 0;     // the model's own passes are as many as there are rounds
    Index drafted = 0, accepted = 0;
};

// The same model with its first blocks alone, as a draft: it needs no other weights. Throws Error if it has fewer.
[[nodiscard]] Scenario with_first_blocks(const Scenario& model, Index blocks);

// Continues a batch row. The draft's scenario may be of another model with the same vocabulary; it reads the model's
// text. Throws Error if nothing can be generated with one of the two, the vocabularies differ, or a logit is NaN.
[[nodiscard]] Resumable<Speculated> speculated(Scenario model, Scenario draft, Index row, Speculation speculation,
                                               std::stop_token stop = {});

}  // namespace decoderscope::core::generate
