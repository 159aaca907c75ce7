#include "app/core/jobs/progress.h"

#include <chrono>
#include <cmath>

namespace decoderscope::core {

std::optional<double> WorkProgress::seconds_left(JobRunner::Clock::time_point now) {
    constexpr double kSoonest = 1.0;  // seconds: before that, and before a hundredth is done, the pace is a guess
    const std::size_t so_far = done.load(), whole = all.load();
    if (!watched_ || so_far < watched_->done) watched_ = Watched{now, so_far};
    const double passed = std::chrono::duration<double>(now - watched_->since).count();
    if (passed < kSoonest || so_far == watched_->done || so_far > whole || so_far < whole / 100) return std::nullopt;
    return passed / static_cast<double>(so_far - watched_->done) * static_cast<double>(whole - so_far);
}

namespace {

Sentence with_time_left(const Sentence& doing, WorkProgress& progress) {
    const std::optional<double> left = progress.seconds_left(JobRunner::Clock::now());
    if (!left) return doing;
    const auto seconds = static_cast<std::size_t>(std::ceil(*left));
    if (seconds < 100)
        return message_n("{doing}, about {count} second left", "{doing}, about {count} seconds left", seconds,
                         {{"doing", doing}});
    return message_n("{doing}, about {count} minute left", "{doing}, about {count} minutes left", (seconds + 30) / 60,
                     {{"doing", doing}});
}

}  // namespace

Sentence progress_sentence(WorkProgress& progress) {
    const Arguments runs = {{"done", progress.done.load()}, {"all", progress.all.load()}};
    // How many a search takes isn't known before.
    if (progress.all == 0) return message_n("Measuring: {count} run", "Measuring: {count} runs", progress.done.load());
    return with_time_left(message("Measuring: {done} of {all} runs", runs), progress);
}

Sentence computing_sentence(WorkProgress& progress) {
    return with_time_left(
        message("Computing: {percent} %", {{"percent", static_cast<std::size_t>(100.0 * progress.share())}}), progress);
}

}  // namespace decoderscope::core
