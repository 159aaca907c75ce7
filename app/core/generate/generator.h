#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/jobs/job.h"
#include "app/core/run/scenario.h"
#include "app/core/run/typed_inputs.h"
#include "engine/base/message.h"
#include "engine/decoder/kv_cache.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
// The inputs with one more position, and a token in each row there: it follows the row's last position that isn't
// padding.
[[nodiscard]] Inputs with_tokens(Inputs inputs, std::span<const Index> tokens);
// The row without its last token. A position that is then padding in every row is removed, along with the edits of its
// cells. Throws Error if it is the only token.
[[nodiscard]] Scenario without_last_token(Scenario scenario, Index row);

// The tokens that may follow a row according to the run's logits. Nothing if there is nothing to draw from.
[[nodiscard]] std::optional<NextToken> next_token(const Scenario& scenario, const Run& run, Index row,
                                                  const Sampling& sampling);

// A batch row of a scenario, and the KV cache of what has gone through the decoder: the first pass is over the whole
// text, each later one over what was added since. Without the cache, or with a mistake, every pass is over the whole
// text. A value: texts that begin alike share what is kept of their beginning.
class CachedText {
public:
    // Throws Error if nothing can be generated with the scenario's model.
    CachedText(Scenario scenario, Index row, bool cached = true);

    // The logits after each of the last tokens [1, count, vocab], which no earlier pass has read but the first of them.
    // Throws Error if the pass fails.
    [[nodiscard]] Tensor last_logits(Index count);
    [[nodiscard]] Tensor next_logits() { return last_logits(1); }  // [1, 1, vocab]
    // Throws Error if the token can't follow.
    void append(Index token);
    // Takes the last tokens away again, and what the cache holds of them.
    void take_back(Index count);
    // Why no token can follow, in one sentence; empty if one can.
    [[nodiscard]] Sentence why_full() const { return row_is_full(scenario_, 0); }
    [[nodiscard]] bool ended() const { return has_ended(scenario_, 0); }

    [[nodiscard]] Index length() const { return scenario_.inputs.pos(); }
    [[nodiscard]] std::vector<Index> tokens() const { return row_tokens(scenario_.inputs, 0); }
    // How many positions have gone through the decoder, over all passes.
    [[nodiscard]] Index computed_positions() const { return computed_positions_; }

private:
    Scenario scenario_;  // the row alone
    bool cached_;
    decoder::Past past_;
    Index computed_positions_ = 0;
};

// Continues one batch row of a scenario, token by token.
class Generator {
public:
    // Throws Error if nothing can be generated with the scenario's model, or a setting is out of range.
    Generator(Scenario scenario, Index row, Sampling sampling, bool cached = true);

    // The next token, appended to the text; nothing once the text has ended or all positions are taken. Throws Error if
    // a pass fails or there is nothing to draw from.
    std::optional<Index> next();

    // The row so far: what it began with and what was generated.
    [[nodiscard]] std::vector<Index> tokens() const { return text_.tokens(); }
    [[nodiscard]] Index computed_positions() const { return text_.computed_positions(); }

private:
    // The token drawn for a position from the logits before it; nothing if there is none to draw.
    [[nodiscard]] std::optional<Index> drawn_from(std::span<const float> logits, Index position) const;

    CachedText text_;
    Index row_;
    Sampling sampling_;
};

// What an encoder–decoder answers to its source: its target, written by the model itself.

// Why the model can't write its target, in one sentence; empty if it can.
[[nodiscard]] Sentence writing_obstacle(const Scenario& scenario);

// How many tokens the model may write for this source: about twice as many as it reads, but no more positions than it
// knows.
[[nodiscard]] Index most_written(const Scenario& scenario);

struct WrittenTarget {
    TokenRows rows;        // a batch row each, from the beginning token; without the end token
    Index unfinished = 0;  // rows that reached the limit before the end token
};
// The target of every row of the source, one most probable token after another. Throws Error if a pass fails.
[[nodiscard]] Resumable<WrittenTarget> written_target(Scenario scenario, std::stop_token stop = {});

// Writes targets in the background.
class TargetWriter {
public:
    // `wake` is called when the target is written, from another thread if there are threads.
    explicit TargetWriter(std::function<void()> wake) : job_(std::move(wake)) {}

    // `changes`: of the work that the scenario belongs to.
    void start(Scenario scenario, std::uint64_t changes);
    void stop();
    [[nodiscard]] bool writing() const { return changes_.has_value(); }
    // What was written, once; nothing if the work has changed since. Rethrows what went wrong.
    [[nodiscard]] std::optional<WrittenTarget> collect(std::uint64_t changes);
    void finish() { job_.finish(); }

    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }

private:
    std::optional<std::uint64_t> changes_;  // the change of the work as of which it writes
    Job<WrittenTarget> job_;
};

}  // namespace decoderscope::core::generate
