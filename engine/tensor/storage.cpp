#include "engine/tensor/storage.h"

#include "engine/platform/pages.h"

#include <algorithm>

namespace decoderscope {

Storage::Storage(Index size) : size_(size), own_(floats(size)), ready_(own_.get()) {}

Storage::Storage(std::shared_ptr<const float> elsewhere) : elsewhere_(std::move(elsewhere)), ready_(elsewhere_.get()) {}

Storage::Storage(Index size, FileValues in_file)
    : size_(size), in_file_(std::move(in_file)), ready_(in_file_.first.get()) {}

Storage::Storage(Index size, std::shared_ptr<const LazyValues> lazy) : size_(size), lazy_(std::move(lazy)) {}

Storage::Storage(Index size, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived)
    : size_(size), lazy_(std::move(lazy)), derived_(std::move(derived)), derived_ready_(derived_.get()) {}

namespace {

// From this tensor size on, a few values are read directly: mapping them would also bring in their neighbours.
constexpr Index kManyValues = 1'000'000;

}  // namespace

const float* Storage::made() const {
    const std::lock_guard lock(making_);
    if (const float* values = ready_.load(std::memory_order_relaxed)) return values;
    Floats values = floats(size_);
    lazy_->make({values.get(), static_cast<std::size_t>(size_)});
    own_ = std::move(values);
    ready_.store(own_.get(), std::memory_order_release);
    return own_.get();
}

const void* Storage::derive(const std::function<std::shared_ptr<const void>()>& make) const {
    const std::lock_guard lock(making_);
    if (derived_ == nullptr) derived_ = make();
    derived_ready_.store(derived_.get(), std::memory_order_release);
    return derived_.get();
}

void Storage::copy(Index first, std::span<float> to) const {
    if (in_file_.descriptor != nullptr && size_ >= kManyValues) {
        const Index at = in_file_.offset + first * static_cast<Index>(sizeof(float));
        if (platform::read_at(*in_file_.descriptor, at, std::as_writable_bytes(to))) return;
    }
    // Also for a truncated file: touching the lost bytes is reported (MappedFile).
    std::copy_n(data() + first, to.size(), to.begin());
}

void Storage::leave_to_file(Index first_value, Index count) const {
    if (!is_in_file()) return;
    // Only pages that hold nothing but these values: neighbours on other pages may be in use.
    platform::release_pages(reinterpret_cast<const char*>(in_file_.first.get() + first_value),
                            static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace decoderscope
