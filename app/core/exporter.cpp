#include "app/core/exporter.h"

#include "app/core/export/watched.h"

#include <algorithm>
#include <new>
#include <utility>

namespace decoderscope {

Exporter::Exporter(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Exporter::~Exporter() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    waiting_stop_.request_stop();
    thread_.request_stop();
}

void Exporter::start(Job job) {
    const std::lock_guard lock(mutex_);
    progress_ = {job.path, 0, std::max<std::size_t>(job.exhibit->panels.size(), 1)};
    waiting_ = std::move(job);
    waiting_stop_ = std::stop_source();
    changed_.notify_all();
}

void Exporter::stop() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    waiting_stop_.request_stop();
}

std::optional<Exporter::Result> Exporter::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

void Exporter::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return finished_ || (!waiting_ && !working_); });
}

std::optional<Exporter::Progress> Exporter::progress() const {
    const std::lock_guard lock(mutex_);
    if (!waiting_ && !working_) return std::nullopt;
    return progress_;
}

// A panel is about to be made.
void Exporter::advance(const std::stop_token& stop) {
    if (stop.stop_requested()) throw ExportStopped();
    {
        const std::lock_guard lock(mutex_);
        if (progress_.done < progress_.total) ++progress_.done;
    }
    if (wake_) wake_();
}

// Nobody can wait for an answer here, so whatever goes wrong becomes a sentence.
Exporter::Result Exporter::write(const Job& job, const std::stop_token& stop) {
    try {
        const Exhibit exhibit = watched(*job.exhibit, [&] { advance(stop); });
        if (job.each.empty()) {
            export_exhibit(exhibit, job.path, job.options);
            return {"Written to " + job.path, false};
        }
        export_each(exhibit, job.path, job.each, job.options);
        return {std::to_string(exhibit.panels.size()) + " files written to " + job.path, false};
    } catch (const ExportStopped& stopped) {
        return {job.path + ": " + stopped.what(), true};
    } catch (const std::bad_alloc&) {
        return {job.path + ": does not fit into the machine's memory", true};
    } catch (const std::exception& error) {
        return {error.what(), true};
    }
}

void Exporter::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return waiting_.has_value(); })) {
        const Job job = std::move(*waiting_);
        waiting_.reset();
        stop_ = waiting_stop_;  // it may have been stopped before it began
        progress_ = {job.path, 0, std::max<std::size_t>(job.exhibit->panels.size(), 1)};
        working_ = true;
        const std::stop_token cancelled = stop_.get_token();
        lock.unlock();
        Result result = write(job, cancelled);
        lock.lock();
        working_ = false;
        finished_ = std::move(result);
        changed_.notify_all();
        if (!wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
}

}  // namespace decoderscope
