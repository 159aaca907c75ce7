// Work on its own thread, which is created when the first work is started.
#include "app/core/jobs/job.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace decoderscope::core {

struct JobRunner::State {
    struct Waiting {
        Work work;
        Failed failed;
        Clock::time_point due;
        std::stop_source stop;
    };

    mutable std::mutex mutex;
    std::condition_variable changed;
    std::optional<Waiting> waiting;
    bool ending = false;  // and not the thread's stop_token: to wait with one loses wake-ups in libstdc++ 12 on Windows
    bool working = false;
    bool hurry = false;                   // waiting work begins before it is due
    std::atomic<bool> forgotten = false;  // what is under way ends with its slice
    std::stop_source stop;                // of what is under way
    std::jthread thread;                  // last: it ends before everything else

    ~State() {
        forget();
        const std::lock_guard lock(mutex);
        ending = true;
        changed.notify_all();
    }

    [[nodiscard]] bool idle() const { return !waiting && !working; }

    void forget() {
        const std::lock_guard lock(mutex);
        stop.request_stop();
        if (waiting) waiting->stop.request_stop();
        waiting.reset();
        forgotten = true;
        changed.notify_all();
    }

    void serve() {
        std::unique_lock lock(mutex);
        while (!ending) {
            if (!waiting) {
                changed.wait(lock, [&] { return ending || waiting.has_value(); });
            } else if (const Clock::time_point due = waiting->due; !hurry && Clock::now() < due) {
                changed.wait_until(lock, due, [&] { return ending || hurry || !waiting || waiting->due != due; });
            } else {
                do_waiting(lock);
            }
        }
    }

    void do_waiting(std::unique_lock<std::mutex>& lock) {
        std::optional<Waiting> now = std::exchange(waiting, std::nullopt);
        stop = now->stop;  // it may have been stopped before it began
        forgotten = false;
        working = true;
        lock.unlock();
        try {
            Resumable<Done> work = now->work(now->stop.get_token());
            while (!forgotten && !work.advance()) {
            }
            if (!forgotten) work.result();
        } catch (...) {
            now->failed(sentence_of_current(), now->stop.get_token());
        }
        now.reset();  // what it held is freed before it counts as done
        lock.lock();
        working = false;
        changed.notify_all();
    }
};

JobRunner::JobRunner() : state_(std::make_unique<State>()) {}
JobRunner::~JobRunner() = default;
JobRunner::JobRunner(JobRunner&&) noexcept = default;
JobRunner& JobRunner::operator=(JobRunner&&) noexcept = default;

void JobRunner::start(Work work, Failed failed, Clock::time_point due) {
    const std::lock_guard lock(state_->mutex);
    if (state_->waiting) state_->waiting->stop.request_stop();
    state_->waiting = State::Waiting{std::move(work), std::move(failed), due, std::stop_source()};
    if (!state_->thread.joinable()) state_->thread = std::jthread([state = state_.get()] { state->serve(); });
    state_->changed.notify_all();
}

void JobRunner::stop() {
    const std::lock_guard lock(state_->mutex);
    state_->stop.request_stop();
    if (state_->waiting) state_->waiting->stop.request_stop();
}

void JobRunner::forget() { state_->forget(); }

bool JobRunner::busy() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->idle();
}

void JobRunner::wait(std::chrono::milliseconds patience, const std::function<bool()>& enough) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, patience, [&] { return enough() || state_->idle(); });
}

void JobRunner::notify() {
    const std::lock_guard lock(state_->mutex);
    state_->changed.notify_all();
}

void JobRunner::finish() {
    std::unique_lock lock(state_->mutex);
    state_->hurry = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return state_->idle(); });
    state_->hurry = false;
}

void JobRunner::advance(Clock::time_point) {}

std::optional<JobRunner::Clock::time_point> JobRunner::due() const { return std::nullopt; }

}  // namespace decoderscope::core
