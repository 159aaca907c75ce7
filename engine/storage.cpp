#include "engine/storage.h"

#include <sys/mman.h>
#include <unistd.h>

namespace decoderscope {

Storage::Storage(Index size) : size_(size), own_(floats(size)), ready_(own_.get()) {}

Storage::Storage(std::shared_ptr<const float> elsewhere) : elsewhere_(std::move(elsewhere)), ready_(elsewhere_.get()) {}

Storage::Storage(Index size, FileValues in_file)
    : size_(size), elsewhere_(std::move(in_file.first)), in_file_(true), ready_(elsewhere_.get()) {}

Storage::Storage(Index size, std::shared_ptr<const LazyValues> lazy) : size_(size), lazy_(std::move(lazy)) {}

Storage::Storage(Index size, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived)
    : size_(size), lazy_(std::move(lazy)), derived_(std::move(derived)) {}

const float* Storage::made() const {
    const std::lock_guard lock(making_);
    if (const float* values = ready_.load(std::memory_order_relaxed)) return values;
    Floats values = floats(size_);
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

void Storage::leave_to_file(Index first_value, Index count) const {
    if (!in_file_) return;
    // Whole pages of the values' own: of the others the neighbours may be in use.
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(elsewhere_.get() + first_value);
    const std::uintptr_t end = begin + static_cast<std::uintptr_t>(count) * sizeof(float);
    const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace decoderscope
