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

// Continues one batch row of a scenario, token by token, using the KV cache: the first pass is over the whole text,
// each later one over the newest token alone. Without the cache, or with a mistake, every pass is over the whole text.
class Generator {
public:
    // Throws Error if nothing can be generated with the scenario's model, or a setting is out of range.
    Generator(Scenario scenario, Index row, Sampling sampling, bool cached = true);

    // The next token, appended to the text; nothing once the text has ended or all positions are taken. Throws Error if
    // a pass fails or there is nothing to draw from.
    std::optional<Index> next();

    // The row so far: what it began with and what was generated.
    [[nodiscard]] std::vector<Index> tokens() const;
    // How many positions have gone through the decoder, over all passes.
    [[nodiscard]] Index computed_positions() const { return computed_positions_; }

private:
    // The token drawn for a position from the logits before it; nothing if there is none to draw.
    [[nodiscard]] std::optional<Index> drawn_from(std::span<const float> logits, Index position) const;

    Scenario scenario_;  // the row alone
    Index row_;
    Sampling sampling_;
    bool cached_;
    decoder::Past past_;
    Index computed_positions_ = 0;
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
