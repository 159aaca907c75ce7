#include "app/core/session/model_loader.h"

#include "app/core/files/link.h"
#include "app/core/train/shown_training.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/checkpoint.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace decoderscope::core {

namespace {

// The folder that models are offered to be written to need not be there yet; any other has to.
void make_trained_models_folder(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    std::error_code failed;
    if (parent == train::trained_models_folder()) std::filesystem::create_directories(parent, failed);
}

ModelWriter::Result written(const ModelWriter::Order& order) {
    try {
        make_trained_models_folder(order.path);
        load::write_model_folder(order.path, *order.model);
        return {absolute_path(order.path), order.open, {}};
    } catch (const std::exception& error) {
        return {order.path, false, sentence_of(error)};
    }
}

// Exceptions can't leave a job, so every failure becomes a sentence. Reading the files is one slice: without threads
// the window freezes meanwhile.
Resumable<ModelLoader::Result> load(ModelLoader::Order order, std::shared_ptr<LoadProgress> progress) {
    ModelLoader::Result result{.order = order};
    try {
        if (order.linked) {
            result.work = files::open_session(*order.linked, files::link_name(), progress.get());
            result.pinned = co_await files::pinned_run(*result.work);
        } else if (order.session) {
            result.work = order.recovered
                              ? files::open_session(files::read_session_file(order.name), order.name, progress.get())
                              : files::open_session(order.name, progress.get());
            result.pinned = co_await files::pinned_run(*result.work);
        } else if (opens_as_trace(order.name, order.as)) {
            result.opened = open_model(order.name, OpenAs::trace);
        } else {
            if (order.answers.empty()) result.asks = load::recognise_model(order.name, {}, order.mapping);
            if (result.asks) result.error = result.asks->problem;
            if (!result.asks)
                result.opened = open_model(order.name, OpenAs::model, order.answers, progress.get(), order.mapping);
        }
    } catch (const load::NeedsConversion& pickled) {
        result.error = pickled.problem();
        result.python = pickled.python();
    } catch (const LoadStopped&) {
        result.error = message("{name}: cancelled", {{"name", order.name}});
    } catch (const std::bad_alloc&) {
        result.error = message("{name}: does not fit into the machine's memory", {{"name", order.name}});
    } catch (const std::exception& error) {
        result.error = sentence_of(error);
    }
    co_return result;
}

// One slice, like a model's files.
TraceReader::Result trace_at(const std::string& path) {
    try {
        return {std::make_shared<const ReferenceRun>(read_trace(path)), {}};
    } catch (const std::bad_alloc&) {
        return {nullptr, message("{name}: does not fit into the machine's memory", {{"name", path}})};
    } catch (const std::exception& error) {
        return {nullptr, sentence_of(error)};
    }
}

}  // namespace

ModelWriter::~ModelWriter() {
    while (busy()) {
        finish();
        static_cast<void>(collect());
    }
}

void ModelWriter::start(Order order) {
    orders_.push_back(std::move(order));
    if (orders_.size() == 1) begin();
}

void ModelWriter::begin() {
    job_.start(
        [order = orders_.front()](const std::stop_token&) { return in_one_slice([order] { return written(order); }); });
}

std::optional<ModelWriter::Result> ModelWriter::collect() {
    std::optional<Result> result = job_.collect();
    if (!result) return std::nullopt;
    orders_.pop_front();
    if (!orders_.empty()) begin();
    return result;
}

void TraceReader::start(const std::string& path) {
    stop();
    followed_ = path;
    read();
}

void TraceReader::stop() {
    path_.clear();
    followed_.clear();
    again_ = false;
    job_.forget();
}

void TraceReader::read() {
    path_ = followed_;
    read_ = last_ = seen(path_);
    job_.start([path = path_](const std::stop_token&) { return in_one_slice([path] { return trace_at(path); }); });
}

std::optional<TraceReader::Result> TraceReader::collect() {
    std::optional<Result> result = job_.collect();
    if (!result) return std::nullopt;
    path_.clear();
    result->again = std::exchange(again_, false);
    return result;
}

std::optional<TraceReader::Seen> TraceReader::seen(const std::string& path) {
    std::error_code gone;
    Seen now{std::filesystem::last_write_time(path, gone)};
    if (!gone) now.bytes = std::filesystem::file_size(path, gone);
    return gone ? std::optional<Seen>() : now;
}

// What has changed since the last look may still be being written.
void TraceReader::look_again() {
    constexpr std::chrono::milliseconds kBetweenLooks{400};
    if (followed_.empty() || !path_.empty() || JobRunner::Clock::now() < next_look_) return;
    next_look_ = JobRunner::Clock::now() + kBetweenLooks;
    const std::optional<Seen> now = seen(followed_);
    const bool settled = now == std::exchange(last_, now);
    if (!now || !settled || now == read_) return;
    again_ = true;
    read();
}

std::optional<JobRunner::Clock::time_point> TraceReader::due() const {
    if (followed_.empty() || !path_.empty()) return job_.due();
    return earliest({job_.due(), next_look_});
}

void ModelLoader::start(Order order) {
    job_.forget();
    progress_ = std::make_shared<LoadProgress>();
    job_.start([order = std::move(order), progress = progress_](const std::stop_token& stop) {
        progress->stop = stop;
        return load(order, progress);
    });
}

}  // namespace decoderscope::core
