// Work in slices, on the thread that calls advance().
#include "app/core/jobs/job.h"

namespace decoderscope::core {

struct JobRunner::State {
    struct Started {
        Work make;
        Failed failed;
        Clock::time_point due;
        std::stop_source stop;
        std::optional<Resumable<Done>> work;  // set once it has begun
    };

    std::optional<Started> waiting;
    std::unique_ptr<Started> under_way;
    bool inside = false;     // a slice is running
    bool forgotten = false;  // what is under way ends with its slice

    [[nodiscard]] bool idle() const { return !waiting && !under_way; }

    ~State() { forget(); }

    void forget() {
        if (waiting) waiting->stop.request_stop();
        waiting.reset();
        if (under_way) under_way->stop.request_stop();
        forgotten = true;
        if (!inside) under_way.reset();
    }

    // Does one slice; false if there is none to do.
    bool slice(bool hurry) {
        if (inside) return false;
        if (!under_way) {
            if (!waiting || (!hurry && Clock::now() < waiting->due)) return false;
            under_way = std::make_unique<Started>(std::move(*waiting));
            waiting.reset();
            forgotten = false;
        }
        inside = true;
        bool done = true;
        try {
            if (!under_way->work) under_way->work.emplace(under_way->make(under_way->stop.get_token()));
            done = under_way->work->advance();
            if (done) under_way->work->result();
        } catch (...) {
            under_way->failed(sentence_of_current(), under_way->stop.get_token());
        }
        inside = false;
        if (done || forgotten) under_way.reset();
        return true;
    }
};

JobRunner::JobRunner() : state_(std::make_unique<State>()) {}
JobRunner::~JobRunner() = default;
JobRunner::JobRunner(JobRunner&&) noexcept = default;
JobRunner& JobRunner::operator=(JobRunner&&) noexcept = default;

void JobRunner::start(Work work, Failed failed, Clock::time_point due) {
    if (state_->waiting) state_->waiting->stop.request_stop();
    state_->waiting = State::Started{std::move(work), std::move(failed), due, std::stop_source(), std::nullopt};
}

void JobRunner::stop() {
    if (state_->waiting) state_->waiting->stop.request_stop();
    if (state_->under_way) state_->under_way->stop.request_stop();
}

void JobRunner::forget() { state_->forget(); }

bool JobRunner::busy() const { return !state_->idle(); }

void JobRunner::wait(std::chrono::milliseconds patience, const std::function<bool()>& enough) {
    const Clock::time_point until = Clock::now() + patience;
    // Always at least one slice: a caller that waits until nothing is under way has no other way to get there.
    while (state_->slice(false) && !enough() && Clock::now() < until) {
    }
}

void JobRunner::notify() {}

void JobRunner::finish() {
    while (state_->slice(true)) {
    }
}

void JobRunner::advance(Clock::time_point until) {
    while (state_->slice(false) && Clock::now() < until) {
    }
}

std::optional<JobRunner::Clock::time_point> JobRunner::due() const {
    if (state_->under_way) return Clock::now();
    return state_->waiting ? std::optional(state_->waiting->due) : std::nullopt;
}

}  // namespace decoderscope::core
