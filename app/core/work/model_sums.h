#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/work/saved_work.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope {

// The checksums of open models, computed once each, a piece of their files at a time: reading a large model takes a
// while, and other saves must not wait for it.
class ModelSums {
public:
    // Nothing while they are being computed; the first call starts that. Empty for a model whose files can no longer be
    // read.
    [[nodiscard]] std::optional<ModelChecksums> find(const std::shared_ptr<const Model>& model);
    // Reads the next piece. Returns false if there is nothing to compute.
    bool advance();

private:
    std::vector<std::shared_ptr<const Model>> asked_;  // the first one is under way
    std::optional<Resumable<ModelChecksums>> under_way_;
    std::map<std::weak_ptr<const Model>, ModelChecksums, std::owner_less<>> known_;
};

}  // namespace decoderscope
