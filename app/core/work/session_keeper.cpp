#include "app/core/work/session_keeper.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace decoderscope {

SessionKeeper::SessionKeeper(std::function<void()> wake)
    : wake_(std::move(wake)),
      sums_([this] {
          const std::lock_guard lock(mutex_);
          changed_.notify_all();
      }),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

SessionKeeper::~SessionKeeper() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void SessionKeeper::autosave_in(const std::string& folder, std::chrono::milliseconds delay) {
    auto slot = std::make_unique<AutosaveSlot>(folder);
    const std::lock_guard lock(mutex_);
    slot_ = std::move(slot);
    delay_ = delay;
}

void SessionKeeper::changed(SavedWork work, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (!slot_) return;
    if (!autosave_) autosave_due_ = Clock::now() + delay_;
    autosave_ = Job{std::move(work), slot_->path(), number, true};
    drop_ = false;
    changed_.notify_all();
}

void SessionKeeper::drop_autosave() {
    const std::lock_guard lock(mutex_);
    if (!slot_) return;
    autosave_.reset();
    drop_ = true;
    changed_.notify_all();
}

void SessionKeeper::adopt(Leftover leftover) {
    const std::lock_guard lock(mutex_);
    adopted_.push_back(std::move(leftover));
}

void SessionKeeper::save(SavedWork work, std::string path, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    saves_.push_back({std::move(work), std::move(path), number, false});
    changed_.notify_all();
}

std::vector<SessionKeeper::Outcome> SessionKeeper::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcomes_, {});
}

bool SessionKeeper::busy() const {
    const std::lock_guard lock(mutex_);
    return working_ || drop_ || !saves_.empty();
}

void SessionKeeper::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !working_ && !drop_ && saves_.empty(); });
}

void SessionKeeper::flush() {
    {
        const std::lock_guard lock(mutex_);
        autosave_due_ = Clock::now();
        changed_.notify_all();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !working_ && !drop_ && !autosave_ && saves_.empty(); });
}

// ---- the thread's part

bool SessionKeeper::has_checksums(const SavedWork& work) {
    bool all = sums_.find(work.scenario.model()).has_value();
    for (const PinnedWork& pin : work.pins) all = sums_.find(pin.scenario.model()).has_value() && all;
    return all;
}

// What is to be written now, with the mutex held. A save waits until its models' files are read through, an autosave
// does not.
std::optional<SessionKeeper::Job> SessionKeeper::take_job(bool ending) {
    const auto ready =
        std::find_if(saves_.begin(), saves_.end(), [&](const Job& job) { return ending || has_checksums(job.work); });
    std::optional<Job> job;
    if (ready != saves_.end()) {
        job = std::move(*ready);
        saves_.erase(ready);
    } else if (!ending && autosave_ && Clock::now() >= autosave_due_) {
        job = std::exchange(autosave_, std::nullopt);
    }
    working_ = job.has_value();
    return job;
}

void SessionKeeper::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
        std::optional<Job> job;
        const auto something = [&] { return drop_ || job || (job = take_job(stop.stop_requested())); };
        if (autosave_)
            changed_.wait_until(lock, stop, autosave_due_, something);
        else
            changed_.wait(lock, stop, [&] { return something() || autosave_.has_value(); });
        if (std::exchange(drop_, false)) {
            std::error_code ignored;
            std::filesystem::remove(slot_->path(), ignored);
            changed_.notify_all();
        }
        if (!job && stop.stop_requested() && !(job = take_job(true))) return;
        if (!job) continue;
        lock.unlock();
        Outcome outcome = write(*job);
        lock.lock();
        working_ = false;
        outcomes_.push_back(std::move(outcome));
        changed_.notify_all();
        if (!wake_ || stop.stop_requested()) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
}

// Nobody can wait for an answer here, so whatever goes wrong becomes a sentence.
SessionKeeper::Outcome SessionKeeper::write(const Job& job) {
    Outcome outcome{job.path, job.number, job.autosave, {}};
    try {
        SessionFile file = session_file_of(job.work);
        if (!job.autosave) file.saved_as.clear();  // a file does not name itself
        const auto put = [&](SavedRun& run, const std::shared_ptr<const Model>& model) {
            ModelChecksums sums = sums_.find(model).value_or(ModelChecksums());
            run.model.weights = std::move(sums.weights);
            run.model.config = std::move(sums.config);
        };
        put(file.run, job.work.scenario.model());
        for (std::size_t i = 0; i < file.pins.size(); ++i) put(file.pins[i].run, job.work.pins[i].scenario.model());
        write_session_file(job.path, file);
        forget_adopted();
    } catch (const std::exception& error) {
        outcome.error = error.what();
    }
    return outcome;
}

void SessionKeeper::forget_adopted() {
    const std::lock_guard lock(mutex_);
    for (const Leftover& leftover : adopted_) remove_leftover(leftover);
    adopted_.clear();
}

}  // namespace decoderscope
