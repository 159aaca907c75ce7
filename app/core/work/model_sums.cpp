#include "app/core/work/model_sums.h"

#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

namespace {

Resumable<ModelChecksums> sums_of(std::shared_ptr<const Model> model) {
    ModelChecksums sums;
    try {
        sums = co_await checksums_of_model(model->path.empty() ? model->name : model->path, model->recorded != nullptr);
    } catch (const Error&) {
        sums = {};
    }
    co_return sums;
}

}  // namespace

std::optional<ModelChecksums> ModelSums::find(const std::shared_ptr<const Model>& model) {
    if (const auto known = known_.find(model); known != known_.end()) return known->second;
    if (std::find(asked_.begin(), asked_.end(), model) == asked_.end()) asked_.push_back(model);
    return std::nullopt;
}

bool ModelSums::advance() {
    if (asked_.empty()) return false;
    if (!under_way_) under_way_.emplace(sums_of(asked_.front()));
    if (!under_way_->advance()) return true;
    std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
    known_.emplace(asked_.front(), under_way_->result());
    under_way_.reset();
    asked_.erase(asked_.begin());
    return true;
}

}  // namespace decoderscope
