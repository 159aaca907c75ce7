#pragma once

#include "app/core/derived/derived.h"
#include "app/core/diff/comparison.h"
#include "app/core/generate/logit_lens.h"
#include "app/core/generate/sampling.h"
#include "app/core/session/scenario.h"

#include <memory>
#include <optional>
#include <vector>

// Values derived from a text that is being continued.
namespace decoderscope {

// The tokens that may come next in a batch row, and the one that is drawn.
struct ShownNextToken {
    Sampling sampling;
    std::optional<NextToken> next;  // nothing if there is nothing to draw from
    double number = 0.0;            // the number that the draw is made with
    Draw draw;
};
[[nodiscard]] Value<ShownNextToken> shown_next_token(Derived& derived, const Scenario& scenario,
                                                     const std::shared_ptr<const Run>& run, Index row,
                                                     const Sampling& sampling);

// The cached pass over a row's last token, compared with the full pass.
struct ShownProof {
    Comparison comparison;
    std::vector<std::size_t> worst_first;
};
// Empty while the comparison is under way.
[[nodiscard]] Value<ShownProof> shown_proof(Derived& derived, const Scenario& scenario,
                                            const std::shared_ptr<const Run>& full,
                                            const std::shared_ptr<const Run>& cached, Index row);

// The logit lens of a row's first `length` positions. Empty while it is being read from the run.
[[nodiscard]] Value<LensTable> shown_lens(Derived& derived, const std::shared_ptr<const Run>& run, Index row,
                                          Index length);

}  // namespace decoderscope
