#include "app/core/export/exporter.h"

#include "app/core/export/watched.h"

#include <algorithm>
#include <new>
#include <utility>

namespace decoderscope {

Exporter::Exporter(std::function<void()> wake)
    : wake_(std::move(wake)),
      thread_([this](const Job& job, const std::stop_token& stop) { return write(job, stop); }, wake_) {}

void Exporter::start(Job job) {
    begin(job);
    thread_.start(std::move(job));
}

void Exporter::begin(const Job& job) {
    const std::lock_guard lock(mutex_);
    progress_ = {job.path, 0, std::max<std::size_t>(job.exhibit->panels.size(), 1)};
}

std::optional<Exporter::Progress> Exporter::progress() const {
    if (!thread_.busy()) return std::nullopt;
    const std::lock_guard lock(mutex_);
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
    begin(job);  // once more: while it waited, the job before it was counted
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

}  // namespace decoderscope
