#include "app/core/work/model_sums.h"

#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

namespace {

ModelChecksums sums_of(const Model& model, const std::stop_token& stop) {
    try {
        return checksums_of_model(model.path.empty() ? model.name : model.path, stop);
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

ModelSums::ModelSums(std::function<void()> made)
    : made_(std::move(made)), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

ModelSums::~ModelSums() {
    thread_.request_stop();
    thread_.join();
}

std::optional<ModelChecksums> ModelSums::find(const std::shared_ptr<const Model>& model) {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(model); known != known_.end()) return known->second;
    if (std::find(asked_.begin(), asked_.end(), model) == asked_.end()) asked_.push_back(model);
    changed_.notify_all();
    return std::nullopt;
}

void ModelSums::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !asked_.empty(); })) {
        const std::shared_ptr<const Model> model = asked_.front();
        lock.unlock();
        ModelChecksums sums = sums_of(*model, stop);
        lock.lock();
        if (stop.stop_requested()) return;
        std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
        known_.emplace(model, std::move(sums));
        asked_.erase(asked_.begin());
        lock.unlock();
        made_();
        lock.lock();
    }
}

}  // namespace decoderscope
