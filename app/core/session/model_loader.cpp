#include "app/core/session/model_loader.h"

#include "engine/model/checkpoint.h"

#include <new>
#include <utility>

namespace decoderscope {

namespace {

// Nothing waits for an exception here, so whatever goes wrong becomes a sentence. The reading of the files is one
// slice: without threads the window stands still meanwhile.
Resumable<ModelLoader::Result> load(ModelLoader::Order order, std::shared_ptr<LoadProgress> progress) {
    ModelLoader::Result result{.order = order};
    try {
        if (order.session) {
            result.work = order.recovered ? open_session(read_session_file(order.name), order.name, progress.get())
                                          : open_session(order.name, progress.get());
            result.pinned = co_await pinned_run(*result.work);
        } else {
            if (order.answers.empty()) result.asks = recognise_model(order.name);
            if (!result.asks) result.model = load_model(order.name, order.answers, progress.get());
        }
    } catch (const NeedsConversion& pickled) {
        result.error = pickled.sentence();
        result.python = pickled.python();
    } catch (const LoadStopped&) {
        result.error = order.name + ": no longer wanted";
    } catch (const std::bad_alloc&) {
        result.error = order.name + ": does not fit into the machine's memory";
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    co_return result;
}

}  // namespace

void ModelLoader::start(Order order) {
    job_.forget();
    progress_ = std::make_shared<LoadProgress>();
    job_.start([order = std::move(order), progress = progress_](const std::stop_token& stop) {
        progress->stop = stop;
        return load(order, progress);
    });
}

}  // namespace decoderscope
