#include "app/core/invariants_monitor.h"

#include <exception>
#include <new>
#include <utility>

namespace decoderscope {

namespace {

// How long a run has to stand before it is measured.
constexpr std::chrono::milliseconds kCalm{250};

InvariantsMonitor::Result measure(const InvariantsMonitor::Job& job, const std::stop_token& stop) {
    InvariantsMonitor::Result result{.run = job.run};
    try {
        result.invariants = measure_invariants(*job.run, job.config, stop);
    } catch (const std::bad_alloc&) {
        result.error = "The checks do not fit into the machine's memory.";
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace

InvariantsMonitor::InvariantsMonitor(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

InvariantsMonitor::~InvariantsMonitor() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    thread_.request_stop();
}

void InvariantsMonitor::start(Job job) {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    stop_ = std::stop_source();
    finished_.reset();
    waiting_ = std::move(job);
    changed_.notify_all();
}

void InvariantsMonitor::stop() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    waiting_.reset();
    finished_.reset();
    changed_.notify_all();
}

std::optional<InvariantsMonitor::Result> InvariantsMonitor::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

void InvariantsMonitor::finish() {
    std::unique_lock lock(mutex_);
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !waiting_ && !working_; });
    hurry_ = false;
}

void InvariantsMonitor::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return waiting_.has_value(); })) {
        const std::stop_token cancelled = stop_.get_token();
        changed_.wait_for(lock, stop, kCalm, [&] { return hurry_ || cancelled.stop_requested(); });
        if (stop.stop_requested()) return;
        if (cancelled.stop_requested() || !waiting_) continue;  // another one, or none
        const Job job = std::move(*waiting_);
        waiting_.reset();
        working_ = true;
        lock.unlock();
        Result result = measure(job, cancelled);
        lock.lock();
        working_ = false;
        const bool wanted = !cancelled.stop_requested();
        if (wanted) finished_ = std::move(result);
        changed_.notify_all();
        if (!wanted || !wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
}

}  // namespace decoderscope
