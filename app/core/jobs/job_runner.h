#pragma once

#include "app/core/jobs/resumable.h"

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stop_token>

namespace decoderscope {

// Does work that takes longer than a frame, one piece of work at a time: on its own thread (on_threads.cpp), or, in a
// build without threads, in slices between frames, whenever advance() is called (in_slices.cpp). A Job (job.h) returns
// one result; use a JobRunner for work that reports more along the way.
class JobRunner {
public:
    using Clock = std::chrono::steady_clock;
    // Makes the work. It is kept until the work is done, so the work may use what it captures. The work must not throw.
    using Work = std::function<Resumable<Done>(std::stop_token)>;

    JobRunner();
    // Asks the work under way to stop, and waits until its slice ends.
    ~JobRunner();
    JobRunner(JobRunner&&) noexcept;
    JobRunner& operator=(JobRunner&&) noexcept;

    // Replaces work that waits; what is under way continues. Begins when `due` has come.
    void start(Work work, Clock::time_point due = Clock::now());
    // Asks the work under way and the work that waits to stop, through their tokens; they still run, to report the
    // outcome.
    void stop();
    // The same, but drops them: what waits never begins, what is under way ends with its slice.
    void forget();
    // Whether work waits or is under way.
    [[nodiscard]] bool busy() const;

    // Waits until `enough` returns true, nothing is under way, or `patience` runs out. notify() has `enough` checked
    // again.
    void wait(std::chrono::milliseconds patience, const std::function<bool()>& enough);
    void notify();
    // Begins waiting work before it is due, and waits until nothing is under way.
    void finish();

    // Without threads: does slices until then, at least one. With threads: does nothing.
    void advance(Clock::time_point until);
    // Without threads: when to call advance() next; nothing if there is nothing to do. With threads: nothing.
    [[nodiscard]] std::optional<Clock::time_point> due() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The earliest of several times; nothing if there is none.
[[nodiscard]] inline std::optional<JobRunner::Clock::time_point> earliest(
    std::initializer_list<std::optional<JobRunner::Clock::time_point>> moments) {
    std::optional<JobRunner::Clock::time_point> first;
    for (const auto& moment : moments)
        if (moment && (!first || *moment < *first)) first = moment;
    return first;
}

// Whether work continues without calls of advance().
#ifdef DECODERSCOPE_WITHOUT_THREADS
inline constexpr bool kJobsOnThreads = false;
#else
inline constexpr bool kJobsOnThreads = true;
#endif

}  // namespace decoderscope
