#pragma once

#include "app/core/work/saved_work.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace decoderscope {

// The checksums of open models, made once for each on a thread of its own: a model may be larger than what is read in
// a moment, and no save of anything else is to wait for it.
class ModelSums {
public:
    // `made` is called from that thread when there is a new one.
    explicit ModelSums(std::function<void()> made);
    ~ModelSums();
    ModelSums(const ModelSums&) = delete;
    ModelSums& operator=(const ModelSums&) = delete;

    // Nothing where they are still being made; asking begins it. A model whose files can't be read any more has none.
    [[nodiscard]] std::optional<ModelChecksums> find(const std::shared_ptr<const Model>& model);

private:
    void serve(const std::stop_token& stop);

    std::function<void()> made_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<std::shared_ptr<const Model>> asked_;  // the first one is under way
    std::map<std::weak_ptr<const Model>, ModelChecksums, std::owner_less<>> known_;
    std::jthread thread_;  // last: it starts when everything else is there
};

}  // namespace decoderscope
