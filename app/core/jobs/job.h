#pragma once

#include "app/core/jobs/resumable.h"
#include "engine/base/error.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace decoderscope::core {

// Several pieces of work at once, one on each thread, for pieces that are too small to be shared among threads
// themselves: a step of a small model's training. A thread ends its piece before it takes the next one, so that the
// first results come early.
class SideBySide {
public:
    using Clock = std::chrono::steady_clock;
    using Piece = Resumable<Done>;

    // `next` begins another piece of work; nothing if there is none for now. It is called from all of the threads, by
    // one at a time.
    explicit SideBySide(std::function<std::optional<Piece>()> next) : next_(std::move(next)) {}

    // Works until the end of a slice: some milliseconds on threads, one slice of one piece without them. Returns false
    // if there was nothing to do. Rethrows what a piece threw.
    bool advance();

private:
    [[nodiscard]] std::optional<Piece> take();
    void work_on(std::optional<Piece>& lane, Clock::time_point until);

    std::function<std::optional<Piece>()> next_;
    std::mutex taking_;
    std::vector<std::optional<Piece>> lanes_;
};

// Does work that takes longer than a frame, one piece of work at a time: on its own thread or, where there is none
// (engine/base/thread.h), in slices between frames, whenever advance() is called. A Job returns one result; use a
// JobRunner for work that reports more along the way.
class JobRunner {
public:
    using Clock = std::chrono::steady_clock;
    // Makes the work. It is kept until the work is done, so the work may use what it captures.
    using Work = std::function<Resumable<Done>(std::stop_token)>;
    // Told, where the work runs, what the work threw, whatever that was: no exception leaves a runner.
    using Failed = std::function<void(const Sentence& error, const std::stop_token& stop)>;

    JobRunner();
    // Asks the work under way to stop, and waits until its slice ends.
    ~JobRunner();
    JobRunner(JobRunner&&) noexcept;
    JobRunner& operator=(JobRunner&&) noexcept;

    // Replaces work that waits; what is under way continues. Begins when `due` has come.
    void start(Work work, Failed failed, Clock::time_point due = Clock::now());
    // Asks the work under way and the work that waits to stop, through their tokens; they still run, to report the
    // outcome.
    void stop();
    // As above, but drops them: what waits never begins, what is under way ends with its slice.
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

// Whether work may continue without calls of advance().
#ifdef DECODERSCOPE_WITHOUT_THREADS
inline constexpr bool kJobsOnThreads = false;
#else
inline constexpr bool kJobsOnThreads = true;
#endif

// Work that takes longer than a frame and returns one result. If work is started while other work is under way, only
// the newest waits.
//
//     Job<Scores> job(wake);
//     job.start([run](std::stop_token) { return scores_of(run); });   // Resumable<Scores> scores_of(…)
//     job.start([run](std::stop_token) { return in_one_slice([run] { return all_scores(*run); }); });
//     if (auto scores = job.collect()) …                              // each frame
//
// Without threads, call advance() each frame; with threads it does nothing. Not safe to call from several threads.
template <class Result>
class Job {
public:
    using Clock = JobRunner::Clock;
    using Work = std::function<Resumable<Result>(std::stop_token)>;

    // `wake` is called when a result is ready: with threads, from the job's thread.
    explicit Job(std::function<void()> wake = {}) : shared_(std::make_shared<SharedState>()) {
        shared_->wake = std::move(wake);
    }

    // Replaces work that waits; what is under way continues. Begins when `due` has come.
    void start(Work work, Clock::time_point due = Clock::now()) {
        const std::uint64_t number = shared_->number;
        runner_.start([shared = shared_, work = std::move(work),
                       number](const std::stop_token& stop) { return tell(*shared, work(stop), number); },
                      [shared = shared_, number](const Sentence& error, const std::stop_token&) {
                          shared->take(std::nullopt, error, number);
                      },
                      due);
    }
    // Asks the work under way and the work that waits to stop, through their tokens; their results are still delivered.
    void stop() { runner_.stop(); }
    // As above, but their results are dropped.
    void forget() {
        {
            const std::lock_guard lock(shared_->mutex);
            ++shared_->number;
            shared_->result.reset();
            shared_->error.reset();
        }
        runner_.forget();
    }

    // The result, once. Throws Error if the work threw anything.
    [[nodiscard]] std::optional<Result> collect() {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->error) throw Error(*std::exchange(shared_->error, std::nullopt));
        return std::exchange(shared_->result, std::nullopt);
    }
    // Whether work waits or is under way.
    [[nodiscard]] bool busy() const { return runner_.busy(); }
    // Waits until a result is ready, nothing is under way, or `patience` runs out.
    void wait(std::chrono::milliseconds patience) {
        runner_.wait(patience, [this] { return shared_->is_there(); });
    }
    // Begins waiting work before it is due, and waits until nothing is under way.
    void finish() { runner_.finish(); }

    // Without threads: as in JobRunner.
    void advance(Clock::time_point until) { runner_.advance(until); }
    [[nodiscard]] std::optional<Clock::time_point> due() const { return runner_.due(); }

private:
    struct SharedState {
        std::function<void()> wake;
        std::mutex mutex;
        std::optional<Result> result;
        std::optional<Sentence> error;
        std::uint64_t number = 0;  // of the work whose result is still wanted

        [[nodiscard]] bool is_there() {
            const std::lock_guard lock(mutex);
            return result || error;
        }
        void take(std::optional<Result> its_result, std::optional<Sentence> its_error, std::uint64_t its_number) {
            {
                const std::lock_guard lock(mutex);
                if (number != its_number) return;
                result = std::move(its_result);
                error = std::move(its_error);
            }
            if (wake) wake();
        }
    };

    static Resumable<Done> tell(SharedState& shared, Resumable<Result> work, std::uint64_t number) {
        while (!work.advance()) co_yield kPause;
        shared.take(work.result(), std::nullopt, number);
        co_return Done{};
    }

    std::shared_ptr<SharedState> shared_;
    JobRunner runner_;  // last: its work uses the rest
};

}  // namespace decoderscope::core
