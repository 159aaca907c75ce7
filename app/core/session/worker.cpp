#include "app/core/session/worker.h"

#include "app/core/jobs/executed.h"
#include "engine/error.h"

#include <algorithm>
#include <new>
#include <utility>

namespace decoderscope {

Worker::Worker(std::function<void()> wake) : wake_(std::move(wake)) {}

void Worker::start(Order order) {
    runner_.forget();
    {
        const std::lock_guard lock(mutex_);
        finished_.reset();
        early_.reset();
    }
    runner_.start([this, order = std::move(order)](const std::stop_token& stop) { return compute(order, stop); });
}

std::optional<Worker::Result> Worker::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

std::shared_ptr<const Run> Worker::collect_early() {
    const std::lock_guard lock(mutex_);
    return std::exchange(early_, nullptr);
}

bool Worker::busy() const { return runner_.busy(); }

void Worker::wait(std::chrono::milliseconds patience) {
    runner_.wait(patience, [this] {
        const std::lock_guard lock(mutex_);
        return finished_.has_value();
    });
}

float Worker::progress() const {
    return std::min(1.0F, static_cast<float>(done_.load()) / static_cast<float>(total_.load()));
}

void Worker::publish(Result result, const std::stop_token& stop) {
    {
        const std::lock_guard lock(mutex_);
        if (stop.stop_requested()) return;
        early_.reset();
        finished_ = std::move(result);
    }
    runner_.notify();
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

Resumable<Done> Worker::compute(Order order, std::stop_token stop) {
    done_ = 0;
    total_ = order.main.plan->steps().size() + (order.unedited ? order.unedited->plan->steps().size() : 0);
    Result result = co_await compute_main(order, stop);
    const std::shared_ptr<const Run> run = result.run;
    const bool alone = order.companions.empty();
    result.complete = !run || alone;
    publish(result, stop);
    if (!run) co_return Done{};
    co_await compute_rest(order, *run);
    if (alone) co_return Done{};
    co_await compute_companions(order, stop, result);
    result.complete = true;
    publish(std::move(result), stop);
    co_return Done{};
}

Resumable<Worker::Result> Worker::compute_main(const Order& order, const std::stop_token& stop) {
    const auto options = [&](const Run* previous) {
        return ExecuteOptions{.previous = previous,
                              .asked = order.asked,
                              .stop = stop,
                              .done = &done_,
                              .kept = kept_steps(order.recording)};
    };
    Result result;
    try {
        if (order.unedited)
            result.unedited = co_await executed(order.unedited->plan, options(order.unedited->previous.get()));
        // With few edits, most tensors are those of the unedited run.
        ExecuteOptions main = options(order.main.previous ? order.main.previous.get() : result.unedited.get());
        main.last_row_first = order.last_row_first;
        main.looked_at = order.looked_at;
        if (!order.looked_at.empty())
            main.early = [&](std::shared_ptr<const Run> run) { publish_early(std::move(run), stop); };
        result.run = co_await executed(order.main.plan, main);
    } catch (const Error& error) {
        result = {.error = error.sentence()};
    } catch (const std::bad_alloc&) {
        result = {.error = message("this run does not fit into the machine's memory")};
    }
    co_return result;
}

// The deferred rows. A reader that needs them earlier computes them itself.
Resumable<Done> Worker::compute_rest(const Order& order, const Run& run) {
    for (const std::string& name : order.last_row_first) {
        co_yield kPause;
        try {
            if (run.value(name).is_ready()) continue;
            (void)run.value(name).data();
            if (wake_) wake_();
        } catch (const std::bad_alloc&) {
            break;  // nothing needs them yet; a later reader gets the error
        }
    }
    co_return Done{};
}

Resumable<Done> Worker::compute_companions(const Order& order, const std::stop_token& stop, Result& result) {
    for (const auto& [name, task] : order.companions) {
        co_yield kPause;
        try {
            const Run* previous = task.previous ? task.previous.get() : result.run.get();
            std::shared_ptr<const Plan> plan = task.plan;
            if (!plan) plan = co_await task.make_plan();
            const ExecuteOptions options{
                .previous = previous, .asked = order.asked, .stop = stop, .kept = kept_steps(order.recording)};
            result.companions[name] = co_await executed(std::move(plan), options);
        } catch (const Error& error) {
            result.companion_errors[name] = sentence_of(error);
        } catch (const std::bad_alloc&) {
            result.companion_errors[name] = message("this run does not fit into the machine's memory");
        }
    }
    co_return Done{};
}

}  // namespace decoderscope
