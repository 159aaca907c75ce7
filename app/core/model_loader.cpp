#include "app/core/model_loader.h"

#include "engine/model/checkpoint.h"

#include <new>
#include <utility>

namespace decoderscope {

namespace {

// Nobody can wait for an answer here, so whatever goes wrong becomes a sentence.
ModelLoader::Result load(const ModelLoader::Job& job, LoadProgress& progress) {
    ModelLoader::Result result{.job = job};
    try {
        if (job.session) {
            result.work = job.recovered ? open_session(read_session_file(job.name), job.name, &progress)
                                        : open_session(job.name, &progress);
            result.pinned = pinned_run(*result.work, progress.stop);
            return result;
        }
        if (job.answers.empty()) result.asks = recognise_model(job.name);
        if (!result.asks) result.model = load_model(job.name, job.answers, &progress);
    } catch (const NeedsConversion& pickled) {
        result.error = pickled.sentence();
        result.python = pickled.python();
    } catch (const LoadStopped&) {
        result.error = job.name + ": no longer wanted";
    } catch (const std::bad_alloc&) {
        result.error = job.name + ": does not fit into the machine's memory";
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace

ModelLoader::ModelLoader(std::function<void()> wake)
    : wake_(std::move(wake)),
      progress_(std::make_shared<LoadProgress>()),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

ModelLoader::~ModelLoader() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    thread_.request_stop();
}

void ModelLoader::start(Job job) {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    stop_ = std::stop_source();
    progress_ = std::make_shared<LoadProgress>();
    progress_->stop = stop_.get_token();
    finished_.reset();
    waiting_ = std::move(job);
    changed_.notify_all();
}

void ModelLoader::stop() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    waiting_.reset();
    finished_.reset();
}

std::optional<ModelLoader::Result> ModelLoader::collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, std::nullopt);
}

void ModelLoader::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return finished_ || (!waiting_ && !working_); });
}

ModelLoader::Progress ModelLoader::progress() const {
    const std::lock_guard lock(mutex_);
    return {progress_->bytes_read, progress_->bytes_total};
}

void ModelLoader::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return waiting_.has_value(); })) {
        const Job job = std::move(*waiting_);
        waiting_.reset();
        const std::shared_ptr<LoadProgress> progress = progress_;
        working_ = true;
        lock.unlock();
        Result result = load(job, *progress);
        lock.lock();
        working_ = false;
        const bool wanted = !progress->stop.stop_requested();
        if (wanted) finished_ = std::move(result);
        changed_.notify_all();
        if (!wanted || !wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
}

}  // namespace decoderscope
