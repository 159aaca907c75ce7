#pragma once

#include "app/core/jobs/resumable.h"

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stop_token>

namespace decoderscope {

// Does work that takes longer than a frame, one piece of work at a time: on a thread of its own (on_threads.cpp), or,
// in a build without threads, in slices whenever advance() is called, between frames (in_slices.cpp). job.h is what
// hands one result over; this is for those that tell more on the way.
class JobRunner {
public:
    using Clock = std::chrono::steady_clock;
    // Makes the work. It is kept until the work is done, so what it captures may be used by it. The work must throw
    // nothing.
    using Work = std::function<Resumable<Done>(std::stop_token)>;

    JobRunner();
    // Asks what is under way to stop, and waits until its slice ends.
    ~JobRunner();
    JobRunner(JobRunner&&) noexcept;
    JobRunner& operator=(JobRunner&&) noexcept;

    // Takes the place of work that waits; what is under way goes on. Begins when `due` has come.
    void start(Work work, Clock::time_point due = Clock::now());
    // Tells what is under way and what waits, by their token, to stop; they still run, to say what came of it.
    void stop();
    // The same, and they are dropped: what waits never begins, what is under way ends with its slice.
    void forget();
    // Whether work waits or is under way.
    [[nodiscard]] bool busy() const;

    // Waits until `enough` says so, nothing is under way, or `patience` is over. notify() has `enough` asked again.
    void wait(std::chrono::milliseconds patience, const std::function<bool()>& enough);
    void notify();
    // Has work begin before it is due, and waits until nothing is under way.
    void finish();

    // Without threads: does slices until then, one at least. On threads nothing.
    void advance(Clock::time_point until);
    // Without threads: when advance() is to be called next; nothing while there is nothing to do, and on threads.
    [[nodiscard]] std::optional<Clock::time_point> due() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The first of several moments; nothing where there is none.
[[nodiscard]] inline std::optional<JobRunner::Clock::time_point> earliest(
    std::initializer_list<std::optional<JobRunner::Clock::time_point>> moments) {
    std::optional<JobRunner::Clock::time_point> first;
    for (const auto& moment : moments)
        if (moment && (!first || *moment < *first)) first = moment;
    return first;
}

// Whether work goes on by itself while nobody calls advance().
#ifdef DECODERSCOPE_WITHOUT_THREADS
inline constexpr bool kJobsOnThreads = false;
#else
inline constexpr bool kJobsOnThreads = true;
#endif

}  // namespace decoderscope
