#include "app/core/session/model_loader.h"

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
    : thread_(
          [](const Order& order, const std::stop_token& stop) {
              order.progress->stop = stop;
              return load(order.job, *order.progress);
          },
          std::move(wake)) {}

void ModelLoader::start(Job job) {
    thread_.forget();
    progress_ = std::make_shared<LoadProgress>();
    thread_.start({std::move(job), progress_});
}

}  // namespace decoderscope
