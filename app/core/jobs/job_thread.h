#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace decoderscope {

// Does jobs on a thread of its own, so that the window never waits: one at a time, and of those that wait only the
// newest.
template <class Job, class Result>
class JobThread {
public:
    // Must throw nothing: nobody can wait for an answer there, so whatever goes wrong is part of the result.
    using Work = std::function<Result(const Job&, const std::stop_token&)>;

    // `wake` is called from the thread when a result is there. A job begins when it has waited for `calm` without
    // another one taking its place.
    JobThread(Work work, std::function<void()> wake, std::chrono::milliseconds calm = {})
        : work_(std::move(work)),
          wake_(std::move(wake)),
          calm_(calm),
          thread_([this](const std::stop_token& stop) { serve(stop); }) {}

    ~JobThread() {
        const std::lock_guard lock(mutex_);
        request_stop();
        thread_.request_stop();
    }
    JobThread(const JobThread&) = delete;
    JobThread& operator=(const JobThread&) = delete;

    // Takes the place of a job that waits; the one under way goes on.
    void start(Job job) {
        const std::lock_guard lock(mutex_);
        waiting_stop_.request_stop();
        waiting_stop_ = std::stop_source();
        waiting_ = std::move(job);
        changed_.notify_all();
    }

    // Asks what is under way and what waits to stop; what comes of it is still told.
    void stop() {
        const std::lock_guard lock(mutex_);
        request_stop();
    }

    // The same, and nothing comes of it.
    void forget() {
        const std::lock_guard lock(mutex_);
        request_stop();
        wanted_ = false;
        waiting_.reset();
        finished_.reset();
        changed_.notify_all();
    }

    [[nodiscard]] std::optional<Result> collect() {
        const std::lock_guard lock(mutex_);
        return std::exchange(finished_, std::nullopt);
    }

    // Whether a job waits or is under way.
    [[nodiscard]] bool busy() const {
        const std::lock_guard lock(mutex_);
        return waiting_ || working_;
    }

    // Waits until a result is there or nothing is under way, or as long as `patience`.
    void wait(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return finished_ || (!waiting_ && !working_); });
    }

    // Has a job that waits for calm begin at once, and waits until nothing is under way.
    void finish() {
        std::unique_lock lock(mutex_);
        hurry_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !waiting_ && !working_; });
        hurry_ = false;
    }

private:
    void request_stop() {
        stop_.request_stop();
        waiting_stop_.request_stop();
    }

    // Whether the job that waits has waited long enough, and no other has taken its place.
    [[nodiscard]] bool waited_for_calm(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
        const std::stop_token its = waiting_stop_.get_token();
        changed_.wait_for(lock, stop, calm_, [&] { return hurry_ || its.stop_requested(); });
        return waiting_ && waiting_stop_.get_token() == its;
    }

    void serve(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return waiting_.has_value(); })) {
            if (!waited_for_calm(lock, stop)) continue;
            if (stop.stop_requested()) return;
            const Job job = std::move(*waiting_);
            waiting_.reset();
            stop_ = waiting_stop_;  // it may have been stopped before it began
            const std::stop_token cancelled = stop_.get_token();
            working_ = wanted_ = true;
            lock.unlock();
            Result result = work_(job, cancelled);
            lock.lock();
            working_ = false;
            const bool wanted = wanted_;
            if (wanted) finished_ = std::move(result);
            changed_.notify_all();
            if (!wanted || !wake_) continue;
            lock.unlock();
            wake_();
            lock.lock();
        }
    }

    Work work_;
    std::function<void()> wake_;
    std::chrono::milliseconds calm_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Job> waiting_;
    std::optional<Result> finished_;
    bool working_ = false;
    bool wanted_ = true;  // something is to come of the job under way
    bool hurry_ = false;
    std::stop_source stop_, waiting_stop_;  // of the job under way, and of the one that waits
    std::jthread thread_;                   // last: it starts when everything else is there
};

}  // namespace decoderscope
