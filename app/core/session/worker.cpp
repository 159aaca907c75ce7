#include "app/core/session/worker.h"

#include "engine/error.h"

#include <algorithm>
#include <new>
#include <utility>

namespace decoderscope {

Worker::Worker(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Worker::~Worker() {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    thread_.request_stop();
}

void Worker::start(Job job) {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    finished_.reset();
    early_.reset();
    waiting_ = std::move(job);
    changed_.notify_all();
}

std::optional<Worker::Result> Worker::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

std::shared_ptr<const Run> Worker::collect_early() {
    const std::lock_guard lock(mutex_);
    return std::exchange(early_, nullptr);
}

bool Worker::busy() const {
    const std::lock_guard lock(mutex_);
    return waiting_.has_value() || working_;
}

void Worker::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return finished_ || (!waiting_ && !working_); });
}

float Worker::progress() const {
    return std::min(1.0F, static_cast<float>(done_.load()) / static_cast<float>(total_.load()));
}

void Worker::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return waiting_.has_value(); })) {
        const Job job = std::move(*waiting_);
        waiting_.reset();
        working_ = true;
        cancel_ = std::stop_source();
        const std::stop_token cancelled = cancel_.get_token();
        lock.unlock();
        compute(job, cancelled);
        lock.lock();
        working_ = false;
        changed_.notify_all();
    }
}

void Worker::publish(Result result, const std::stop_token& stop) {
    {
        const std::lock_guard lock(mutex_);
        if (stop.stop_requested()) return;
        early_.reset();
        finished_ = std::move(result);
        changed_.notify_all();
    }
    if (wake_) wake_();
}

void Worker::publish_early(std::shared_ptr<const Run> run, const std::stop_token& stop) {
    {
        const std::lock_guard lock(mutex_);
        if (stop.stop_requested()) return;
        early_ = std::move(run);
    }
    if (wake_) wake_();
}

void Worker::compute(const Job& job, const std::stop_token& stop) {
    done_ = 0;
    total_ = job.main.plan->steps().size() + (job.unedited ? job.unedited->plan->steps().size() : 0);
    Result result = compute_main(job, stop);
    const std::shared_ptr<const Run> run = result.run;
    if (!run) return publish(std::move(result), stop);
    if (job.companions.empty()) {
        publish(std::move(result), stop);
        return compute_rest(job, stop, *run);
    }
    result.complete = false;
    publish(result, stop);
    compute_rest(job, stop, *run);
    compute_companions(job, stop, result);
    result.complete = true;
    publish(std::move(result), stop);
}

Worker::Result Worker::compute_main(const Job& job, const std::stop_token& stop) {
    const auto options = [&](const Run* previous) {
        return ExecuteOptions{
            .previous = previous, .asked = job.asked, .stop = stop, .done = &done_, .kept = kept_steps(job.recording)};
    };
    try {
        Result result;
        if (job.unedited) result.unedited = execute(job.unedited->plan, options(job.unedited->previous.get()));
        // Where edits are few, most tensors are those of the unedited run.
        ExecuteOptions main = options(job.main.previous ? job.main.previous.get() : result.unedited.get());
        main.last_row_first = job.last_row_first;
        main.looked_at = job.looked_at;
        if (!job.looked_at.empty())
            main.early = [&](std::shared_ptr<const Run> run) { publish_early(std::move(run), stop); };
        result.run = execute(job.main.plan, main);
        return result;
    } catch (const Error& error) {
        return {.error = error.what()};
    } catch (const std::bad_alloc&) {
        return {.error = "this run does not fit into the machine's memory"};
    }
}

// The rows that could wait. Who looks at them before they are there computes them where they look.
void Worker::compute_rest(const Job& job, const std::stop_token& stop, const Run& run) {
    for (const std::string& name : job.last_row_first) {
        if (stop.stop_requested()) return;
        try {
            if (run.value(name).is_ready()) continue;
            (void)run.value(name).data();
            if (wake_) wake_();
        } catch (const std::bad_alloc&) {
            return;  // nobody asked for them yet; who does is told
        }
    }
}

void Worker::compute_companions(const Job& job, const std::stop_token& stop, Result& result) {
    for (const auto& [name, task] : job.companions) {
        try {
            const Run* previous = task.previous ? task.previous.get() : result.run.get();
            std::shared_ptr<const Plan> plan = task.plan ? task.plan : task.make_plan(stop);
            if (!plan) return;
            result.companions[name] =
                execute(std::move(plan),
                        {.previous = previous, .asked = job.asked, .stop = stop, .kept = kept_steps(job.recording)});
        } catch (const Error& error) {
            result.companion_errors[name] = error.what();
        } catch (const std::bad_alloc&) {
            result.companion_errors[name] = "this run does not fit into the machine's memory";
        }
    }
}

}  // namespace decoderscope
