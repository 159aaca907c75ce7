#include "app/core/derived/derived.h"

namespace decoderscope {

void Derived::next_frame() {
    if (language_ != &spoken()) shelves_.clear();
    language_ = &spoken();
    for (auto& [type, shelf] : shelves_) shelf->tidy(frame_began_);
    frame_began_ = clock_;
    waiting_ = false;
}

void Derived::finish() {
    for (auto& [type, shelf] : shelves_) shelf->finish();
}

std::size_t Derived::size() const {
    std::size_t count = 0;
    for (const auto& [type, shelf] : shelves_) count += shelf->size();
    return count;
}

}  // namespace decoderscope
