#include "app/core/jobs/job.h"

#include "engine/base/parallel.h"

#include <utility>

namespace decoderscope::core {

namespace {

constexpr std::chrono::milliseconds kSlice{kJobsOnThreads ? 20 : 0};
constexpr Index kCostOfSlice = 4'000'000;  // multiply-adds, at least

}  // namespace

std::optional<SideBySide::Piece> SideBySide::take() {
    const std::lock_guard lock(taking_);
    return next_();
}

void SideBySide::work_on(std::optional<Piece>& lane, Clock::time_point until) {
    do {
        if (!lane) lane = take();
        if (!lane) return;
        if (!lane->advance()) continue;
        Piece ended = std::move(*lane);
        lane.reset();
        static_cast<void>(ended.result());
    } while (Clock::now() < until);
}

bool SideBySide::advance() {
    std::erase(lanes_, std::nullopt);
    while (static_cast<Index>(lanes_.size()) < thread_count()) {
        std::optional<Piece> piece = take();
        if (!piece) break;
        lanes_.push_back(std::move(piece));
    }
    const Clock::time_point until = Clock::now() + kSlice;
    // Only the last piece may spread its own work.
    each_in_parallel(static_cast<Index>(lanes_.size()), kCostOfSlice,
                     [&](Index lane) { work_on(lanes_[static_cast<std::size_t>(lane)], until); });
    return !lanes_.empty();
}

}  // namespace decoderscope::core
