// Work on a thread of its own, which is made when the first work is started. If there is none, work is done in slices
// on the thread that calls advance() or waits.
#include "app/core/jobs/job.h"
#include "engine/base/thread.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

namespace decoderscope::core {

struct JobRunner::State {
    struct Started {
        Work make;
        Failed failed;
        Clock::time_point due;
        std::stop_source stop;
        std::optional<Resumable<Done>> work;  // set once it has begun
    };
    using Lock = std::unique_lock<std::mutex>;

    mutable std::mutex mutex;
    std::condition_variable changed;
    std::optional<Started> waiting;
    std::unique_ptr<Started> under_way;
    bool inside = false;                  // a slice is running
    std::atomic<bool> forgotten = false;  // what is under way ends with its slice
    bool hurry = false;                   // waiting work begins before it is due
    bool ending = false;  // and not the thread's stop_token: to wait with one loses wake-ups in libstdc++ 12 on Windows
    Thread thread;        // last: it ends before everything else

    ~State() {
        forget();
        const std::lock_guard lock(mutex);
        ending = true;
        changed.notify_all();
    }

    [[nodiscard]] bool idle() const { return !waiting && !under_way && !inside; }

    void stop() {
        if (waiting) waiting->stop.request_stop();
        if (under_way) under_way->stop.request_stop();
    }

    void forget() {
        std::optional<Started> never_begun;  // these are freed without the lock
        std::unique_ptr<Started> ended;
        const std::lock_guard lock(mutex);
        stop();
        never_begun.swap(waiting);
        forgotten = true;
        if (!inside) ended = std::move(under_way);
        changed.notify_all();
    }

    // Does one slice, without the lock; false if there is none to do.
    bool slice(Lock& lock) {
        if (inside) return false;
        if (!under_way) {
            if (!waiting || (!hurry && Clock::now() < waiting->due)) return false;
            under_way = std::make_unique<Started>(std::move(*waiting));
            waiting.reset();
            forgotten = false;
        }
        inside = true;
        lock.unlock();
        bool done = true;
        try {
            if (!under_way->work) under_way->work.emplace(under_way->make(under_way->stop.get_token()));
            done = under_way->work->advance();
            if (done && !forgotten) under_way->work->result();
        } catch (...) {
            done = true;
            try {
                under_way->failed(sentence_of_current(), under_way->stop.get_token());
            } catch (const std::exception&) {  // there is too little memory to say that there is too little
            }
        }
        lock.lock();
        if (done || forgotten) {
            std::unique_ptr<Started> ended = std::move(under_way);
            lock.unlock();
            ended.reset();  // what it held is freed before it counts as done
            lock.lock();
        }
        inside = false;
        if (!under_way) changed.notify_all();
        return true;
    }

    void serve() {
        Lock lock(mutex);
        while (!ending) {
            if (slice(lock)) continue;
            if (!waiting) {
                changed.wait(lock, [&] { return ending || waiting.has_value(); });
            } else {
                const Clock::time_point due = waiting->due;
                changed.wait_until(lock, due, [&] { return ending || hurry || !waiting || waiting->due != due; });
            }
        }
    }
};

JobRunner::JobRunner() : state_(std::make_unique<State>()) {}
JobRunner::~JobRunner() = default;
JobRunner::JobRunner(JobRunner&&) noexcept = default;
JobRunner& JobRunner::operator=(JobRunner&&) noexcept = default;

void JobRunner::start(Work work, Failed failed, Clock::time_point due) {
    const State::Lock lock(state_->mutex);
    if (state_->waiting) state_->waiting->stop.request_stop();
    state_->waiting = State::Started{std::move(work), std::move(failed), due, std::stop_source(), std::nullopt};
    if (!state_->thread.runs() && !state_->inside) state_->thread = Thread([state = state_.get()] { state->serve(); });
    state_->changed.notify_all();
}

void JobRunner::stop() {
    const State::Lock lock(state_->mutex);
    state_->stop();
}

void JobRunner::forget() { state_->forget(); }

bool JobRunner::busy() const {
    const State::Lock lock(state_->mutex);
    return !state_->idle();
}

void JobRunner::wait(std::chrono::milliseconds patience, const std::function<bool()>& enough) {
    State::Lock lock(state_->mutex);
    if (state_->thread.runs()) {
        state_->changed.wait_for(lock, patience, [&] { return enough() || state_->idle(); });
        return;
    }
    const Clock::time_point until = Clock::now() + patience;
    // Always at least one slice: a caller that waits until nothing is under way has no other way to get there.
    while (state_->slice(lock) && !enough() && Clock::now() < until) {
    }
}

void JobRunner::notify() {
    const State::Lock lock(state_->mutex);
    state_->changed.notify_all();
}

void JobRunner::finish() {
    State::Lock lock(state_->mutex);
    state_->hurry = true;
    state_->changed.notify_all();
    if (state_->thread.runs())
        state_->changed.wait(lock, [&] { return state_->idle(); });
    else
        while (state_->slice(lock)) {
        }
    state_->hurry = false;
}

void JobRunner::advance(Clock::time_point until) {
    State::Lock lock(state_->mutex);
    if (state_->thread.runs()) return;
    while (state_->slice(lock) && Clock::now() < until) {
    }
}

std::optional<JobRunner::Clock::time_point> JobRunner::due() const {
    const State::Lock lock(state_->mutex);
    if (state_->thread.runs()) return std::nullopt;
    if (state_->under_way) return Clock::now();
    return state_->waiting ? std::optional(state_->waiting->due) : std::nullopt;
}

}  // namespace decoderscope::core
