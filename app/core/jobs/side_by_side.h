#pragma once

#include "app/core/jobs/resumable.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace decoderscope::core {

// Several pieces of work at once, one on each thread, for pieces that are too small to be shared among threads
// themselves: a step of a small model's training. A thread ends its piece before it takes the next one, so that the
// first results come early.
class SideBySide {
public:
    using Clock = std::chrono::steady_clock;
    using Piece = Resumable<Done>;

    // `next` begins another piece of work; nothing if there is none for now. It is called from all of the threads, by
    // one at a time.
    explicit SideBySide(std::function<std::optional<Piece>()> next) : next_(std::move(next)) {}

    // Works until the end of a slice: some milliseconds on threads, one slice of one piece without them. Returns false
    // if there was nothing to do. Rethrows what a piece threw.
    bool advance();

private:
    [[nodiscard]] std::optional<Piece> take();
    void work_on(std::optional<Piece>& lane, Clock::time_point until);

    std::function<std::optional<Piece>()> next_;
    std::mutex taking_;
    std::vector<std::optional<Piece>> lanes_;
};

}  // namespace decoderscope::core
