#include "engine/storage.h"

#include "engine/memory.h"

namespace decoderscope {

Storage::Storage(Index size) : size_(size), own_(floats(size)), ready_(own_.get()) {}

Storage::Storage(std::shared_ptr<const float> elsewhere) : elsewhere_(std::move(elsewhere)), ready_(elsewhere_.get()) {}

Storage::Storage(Index size, std::shared_ptr<const LazyValues> lazy) : size_(size), lazy_(std::move(lazy)) {}

const float* Storage::made() const {
    const std::lock_guard lock(making_);
    if (const float* values = ready_.load(std::memory_order_relaxed)) return values;
    std::shared_ptr<float> values = floats(size_);
    lazy_->make({values.get(), static_cast<std::size_t>(size_)});
    own_ = std::move(values);
    ready_.store(own_.get(), std::memory_order_release);
    return own_.get();
}

std::shared_ptr<const void> Storage::derived(const std::function<std::shared_ptr<const void>()>& make) const {
    const std::lock_guard lock(making_);
    if (derived_ == nullptr) derived_ = make();
    return derived_;
}

}  // namespace decoderscope
