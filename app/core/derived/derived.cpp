#include "app/core/derived/derived.h"

namespace decoderscope::core {

void Derived::next_frame() {
    if (language_ != &spoken()) shelves_.clear();
    language_ = &spoken();
    for (auto& [type, shelf] : shelves_) shelf->tidy(frame_began_);
    frame_began_ = clock_;
    waiting_ = false;
}

void Derived::forget_left() {
    for (auto& [type, shelf] : shelves_) shelf->forget_left();
}

void Derived::finish() {
    for (auto& [type, shelf] : shelves_) shelf->finish();
}

void Derived::advance(JobRunner::Clock::time_point until) {
    for (auto& [type, shelf] : shelves_) shelf->advance(until);
}

std::optional<JobRunner::Clock::time_point> Derived::due() const {
    std::optional<JobRunner::Clock::time_point> first;
    for (const auto& [type, shelf] : shelves_) first = earliest({first, shelf->due()});
    return first;
}

std::size_t Derived::size() const {
    std::size_t count = 0;
    for (const auto& [type, shelf] : shelves_) count += shelf->size();
    return count;
}

}  // namespace decoderscope::core
