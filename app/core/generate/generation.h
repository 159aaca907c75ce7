#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"

#include <optional>
#include <vector>

namespace decoderscope::core::generate {

// A text that grows one token at a time. The new token is an input like any other: the pass over the longer text is
// recorded in full, and stepping back is the pass over the shorter one.

// How many positions of a batch row hold tokens; what follows is padding.
[[nodiscard]] Index row_length(const Inputs& inputs, Index row);
// The row's tokens, without the padding.
[[nodiscard]] std::vector<Index> row_tokens(const Inputs& inputs, Index row);
// How many of the row's last tokens were generated rather than given. 0 if the text was changed since.
[[nodiscard]] Index generated_count(const Scenario& scenario, Index row);

// Why nothing can be generated with this model, in one sentence; empty if it can be.
[[nodiscard]] Sentence generation_obstacle(const Scenario& scenario);
// Why no token can follow in this row, in one sentence: all positions are taken. Empty if one can.
[[nodiscard]] Sentence row_is_full(const Scenario& scenario, Index row);
// Whether the row's last token is the one that ends a text.
[[nodiscard]] bool has_ended(const Scenario& scenario, Index row);

// The row with one more token, in its first padding position; if it has none, the whole batch becomes one position
// longer, and the other rows are padded. Throws Error if the token can't follow.
[[nodiscard]] Scenario with_token(Scenario scenario, Index row, Index token);
// The row without its last token. A position that is then padding in every row is removed, along with the edits of its
// cells. Throws Error if it is the only token.
[[nodiscard]] Scenario without_last_token(Scenario scenario, Index row);

// The tokens that may follow a row according to the run's logits. Nothing if there is nothing to draw from.
[[nodiscard]] std::optional<NextToken> next_token(const Scenario& scenario, const Run& run, Index row,
                                                  const Sampling& sampling);

}  // namespace decoderscope::core::generate
