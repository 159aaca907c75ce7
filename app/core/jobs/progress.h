#pragma once

#include "app/core/jobs/job.h"
#include "engine/base/message.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

namespace decoderscope::core {

// How much of some work is done, in runs of a measurement or in effort_of() a run; shared with its job. One that is
// left goes on where it was.
struct WorkProgress {
    std::atomic<std::size_t> done = 0, all = 0;

    // About how many seconds the rest takes at the pace since it has been watched; nothing until that can be said. Only
    // the window's thread may ask.
    [[nodiscard]] std::optional<double> seconds_left(JobRunner::Clock::time_point now);
    // It isn't watched any more.
    void look_away() { watched_.reset(); }

    [[nodiscard]] double share() const {
        const std::size_t count = all.load();
        return count == 0 ? 0.0 : static_cast<double>(done.load()) / static_cast<double>(count);
    }

private:
    struct Watched {
        JobRunner::Clock::time_point since;
        std::size_t done = 0;
    };
    std::optional<Watched> watched_;
};
using SharedProgress = std::shared_ptr<WorkProgress>;

// "Measuring: 12 of 340 runs, about 6 minutes left"
[[nodiscard]] Sentence progress_sentence(WorkProgress& progress);
// "Computing: 34 %, about 20 seconds left"
[[nodiscard]] Sentence computing_sentence(WorkProgress& progress);

}  // namespace decoderscope::core
