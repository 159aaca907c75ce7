#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/work/saved_work.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope {

// The checksums of open models, made once for each, a piece of their files at a time: a model may be larger than what
// is read in a moment, and no save of anything else is to wait for it.
class ModelSums {
public:
    // Nothing where they are still being made; asking begins it. A model whose files can't be read any more has none.
    [[nodiscard]] std::optional<ModelChecksums> find(const std::shared_ptr<const Model>& model);
    // Reads the next piece. Returns false where nothing was asked for.
    bool advance();

private:
    std::vector<std::shared_ptr<const Model>> asked_;  // the first one is under way
    std::optional<Resumable<ModelChecksums>> under_way_;
    std::map<std::weak_ptr<const Model>, ModelChecksums, std::owner_less<>> known_;
};

}  // namespace decoderscope
