#pragma once

#include "app/core/jobs/job.h"
#include "app/core/session/scenario.h"
#include "app/core/session/typed_inputs.h"
#include "engine/message.h"

#include <cstdint>
#include <functional>
#include <optional>

// What an encoder–decoder answers to its source: its target, written by the model itself.
namespace decoderscope {

// Why the model can't write its target, in one sentence; empty if it can.
[[nodiscard]] Sentence writing_obstacle(const Scenario& scenario);

// How many tokens the model may write for this source: about twice as many as it reads, and no more positions than it
// knows.
[[nodiscard]] Index most_written(const Scenario& scenario);

struct WrittenTarget {
    TokenRows rows;        // a batch row each, from the beginning token; without the end token
    Index unfinished = 0;  // rows that reached the limit before the end token
};
// The target of every row of the source, one most probable token after another. Throws Error where a pass fails.
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
    std::optional<std::uint64_t> changes_;  // as of which change of the work it writes
    Job<WrittenTarget> job_;
};

}  // namespace decoderscope
