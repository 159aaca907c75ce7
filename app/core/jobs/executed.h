#pragma once

#include "app/core/jobs/resumable.h"
#include "engine/run.h"

#include <memory>

namespace decoderscope {

// execute() in slices, one step each. What the options refer to must outlive it.
[[nodiscard]] inline Resumable<std::shared_ptr<const Run>> executed(std::shared_ptr<const Plan> plan,
                                                                    ExecuteOptions options = {}) {
    Execution execution(std::move(plan), options);
    while (!execution.advance()) co_yield kPause;
    co_return execution.run();
}

}  // namespace decoderscope
