#pragma once

#include "app/core/jobs/job.h"

namespace decoderscope {

// Something that takes longer than a frame and can't be cut into slices, one at a time, beside the window where there
// are threads.
template <class T>
class Later {
public:
    [[nodiscard]] bool busy() const { return job_.busy(); }

    // Not while it is busy.
    void start(std::function<T()> work) {
        job_.start([work = std::move(work)](const std::stop_token&) { return in_one_slice(work); });
    }

    // What was computed, once; nothing while it isn't there. Passes on what the work threw. To be called each frame.
    [[nodiscard]] std::optional<T> take() {
        job_.advance(JobRunner::Clock::now());
        return job_.collect();
    }

private:
    Job<T> job_;
};

}  // namespace decoderscope
