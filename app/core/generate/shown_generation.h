#pragma once

#include "app/core/derived/derived.h"
#include "app/core/generate/logit_lens.h"
#include "app/core/generate/sampling.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Values derived from a text that is being continued.
namespace decoderscope::core::generate {

// The tokens that may come next in a batch row, and the one that is drawn.
struct ShownNextToken {
    Sampling sampling;
    std::optional<NextToken> next;  // nothing if there is nothing to draw from
    double number = 0.0;            // the number that decides the draw
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

// What the Generate tab shows, in sentences with the numbers of the run.

// How a token is written.
using PieceOf = std::function<std::string(Index token)>;

// Why this token comes next: the likeliest, how far it is ahead, what the cuts left, where the drawn number fell. Empty
// if there is nothing to draw from.
[[nodiscard]] std::vector<Sentence> next_token_sentences(const ShownNextToken& shown, const PieceOf& piece);

// What each row of the logit lens says at a position, and from which layer on the final answer is first.
[[nodiscard]] std::vector<Sentence> lens_sentences(const LensTable& table, Index position, const PieceOf& piece);

// The most probable next tokens of a batch row with their probabilities before and after temperature and cuts.
[[nodiscard]] std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling);
// The attention of a layer whose k and v the cache keeps: "blocks.0.attn"; empty if there is no such layer.
[[nodiscard]] std::string cached_attention(const Plan& plan, Index layer);
// One layer of the KV cache: k and v.
[[nodiscard]] Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place);
// What each layer would predict next, by position. `lens` is the run with the logit lens.
[[nodiscard]] Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row);

}  // namespace decoderscope::core::generate
