#pragma once

#include "app/core/derived/derived.h"
#include "app/core/generate/beams.h"
#include "app/core/generate/sampling.h"
#include "app/core/generate/speculative.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"
#include "engine/graph/plan.h"
#include "engine/graph/run.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core::generate {

// What the KV cache keeps for one position, in numbers, over all layers of the decoder.
struct CacheSize {
    Index kept = 0;          // of a row: k and v of each head that has its own, or what latent attention keeps for them
    Index with_k_and_v = 0;  // what k and v of all heads take
    // Of one layer with latent attention: 0 without.
    Index latent = 0, shared = 0;

    [[nodiscard]] bool is_latent() const { return latent > 0; }
};
[[nodiscard]] CacheSize cache_size(const Plan& plan);

// "Kept 20 rows × (16 latent + 4 shared numbers) × 2 layers = 800 numbers, 3200 bytes; k and v, made of them
// only where they are looked at, would take 2560 numbers, 10,240 bytes", of a latent cache. A number has 4 bytes.
[[nodiscard]] Sentence latent_cache_sentence(const CacheSize& size, Index rows, Index layers);

// The most probable tokens at one place of the logit lens, best first; empty if a probability is not a number.
struct LensCell {
    std::vector<std::pair<Index, float>> top;  // token and probability

    [[nodiscard]] bool agrees_with(const LensCell& other) const {
        return !top.empty() && !other.top.empty() && top.front().first == other.top.front().first;
    }
};

// One batch row of the logit lens: what enters the first block, then what leaves each block; and, below each, of the
// fitted lens, where there is one.
struct LensTable {
    struct Row {
        std::string at;  // "embed", "blocks.0"
        bool fitted = false;
        std::vector<LensCell> cells = {};  // [pos]
        double apart = 0.0;  // KL(output ‖ this), bits, averaged over the positions; NaN if a probability is
    };
    std::vector<Row> rows;             // the last one of the logit lens is the output
    std::vector<std::size_t> settled;  // [pos]: the row of the logit lens from which on the top token is the final one

    [[nodiscard]] std::size_t output() const;  // its row
};

// Reads the table from a run with the logit lens, in parts, so that a window can spread the work over frames.
class LensReading {
public:
    // `length` positions of a batch row.
    LensReading(std::shared_ptr<const Run> run, Index row, Index length);

    // Continues until about this many more numbers are read. Returns whether all are.
    bool advance(Index numbers);
    // Complete once advance() has returned true.
    [[nodiscard]] const LensTable& table() const { return table_; }

private:
    std::shared_ptr<const Run> run_;
    Index row_, length_;
    std::vector<const Step*> probabilities_;  // of the rows of the table
    Index next_ = 0;                          // counts cells, row by row
    LensTable table_;
};

// Values derived from a text that is being continued.
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

// The logit lens of a row's first `length` positions. Empty while it is being read from the run.
[[nodiscard]] Value<LensTable> shown_lens(Derived& derived, const std::shared_ptr<const Run>& run, Index row,
                                          Index length);

// The texts that beam search finds after a row.
struct ShownBeams {
    static constexpr std::size_t kKept = 2;
    static constexpr bool kGoesOn = true;

    BeamTree tree;
    Sentence error;  // why there is none; empty if there is one
};
// Empty while they are being searched.
[[nodiscard]] Value<ShownBeams> shown_beams(Derived& derived, const Scenario& scenario,
                                            const std::shared_ptr<const Run>& run, Index row, const BeamSearch& search);

// What a draft of the model's own first blocks proposes, and what the model makes of it.
struct DraftQuestion {
    Index blocks = 1;
    Speculation speculation;
    bool operator==(const DraftQuestion&) const = default;
};
struct ShownDraft {
    static constexpr std::size_t kKept = 2;
    static constexpr bool kGoesOn = true;

    Speculated speculated;
    Sentence error;  // why there is nothing; empty if there is
};
// Empty while it is computed.
[[nodiscard]] Value<ShownDraft> shown_draft(Derived& derived, const Scenario& scenario,
                                            const std::shared_ptr<const Run>& run, Index row,
                                            const DraftQuestion& question);
// How many tokens were accepted, and how many passes that took.
[[nodiscard]] std::vector<Sentence> sentences_of_draft(const Speculated& found);

// The tokens that a node's text adds, as the window writes them: pieces of text one after the other, words and ids with
// spaces between them.
[[nodiscard]] std::string text_of(const Scenario& scenario, const BeamTree& tree, std::size_t node);

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
// How the sums of the texts that beam search found fall, token by token.
[[nodiscard]] Exhibit beams_exhibit(const Scenario& scenario, const BeamTree& tree);
// The attention of a layer whose k and v the cache keeps: "blocks.0.attn"; empty if there is no such layer.
[[nodiscard]] std::string cached_attention(const Plan& plan, Index layer);
// One layer of the KV cache: k and v.
[[nodiscard]] Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place);
// What each layer would predict next, by position. `lens` is the run with the logit lens.
[[nodiscard]] Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row);

}  // namespace decoderscope::core::generate
