#pragma once

#include "engine/index.h"
#include "engine/lazy.h"
#include "engine/memory.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace decoderscope {

// Values in a mapped file. Their pages may be released to the system, which reads them again on demand.
struct FileValues {
    std::shared_ptr<const float> first;     // keeps the mapping alive
    std::shared_ptr<const int> descriptor;  // the open file
    std::int64_t offset = 0;                // of the first value in the file, in bytes
};

// Holds a tensor's numbers. Safe to read from several threads; written only while a single tensor holds it.
class Storage {
public:
    // Uninitialised room for `size` values.
    explicit Storage(Index size);
    // Values stored elsewhere, never written to.
    explicit Storage(std::shared_ptr<const float> elsewhere);
    Storage(Index size, FileValues in_file);
    // Values computed when data() is first called.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy);
    // The same, computed from a form that is usually derived from them.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived);
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    [[nodiscard]] const float* data() const {
        const float* values = ready_.load(std::memory_order_acquire);
        return values != nullptr ? values : made();
    }
    // Whether it may be written to: it owns its values, they exist, and nothing was derived from them.
    [[nodiscard]] bool is_plain() const { return own_ != nullptr && derived_ == nullptr; }
    [[nodiscard]] float* writable() { return own_.get(); }

    [[nodiscard]] bool is_in_file() const { return in_file_.first != nullptr; }
    // What the values will be computed from; nullptr once they exist.
    [[nodiscard]] const LazyValues* lazy() const {
        return ready_.load(std::memory_order_acquire) == nullptr ? lazy_.get() : nullptr;
    }

    // What was derived from the values, created on first use: `make` returns a shared_ptr to it.
    template <class Make>
    [[nodiscard]] const void* derived(const Make& make) const {
        const void* known = derived_ready_.load(std::memory_order_acquire);
        return known != nullptr ? known : derive(make);
    }
    // Copies some of the values. Of a large tensor in a file only these are read: mapping them would also bring in many
    // unwanted neighbours.
    void copy(Index first, std::span<float> to) const;
    // Releases the memory of some of the values, if they are in a file, until they are read again.
    void leave_to_file(Index first, Index count) const;

private:
    [[nodiscard]] const float* made() const;
    [[nodiscard]] const void* derive(const std::function<std::shared_ptr<const void>()>& make) const;

    Index size_ = 0;
    mutable Floats own_;
    std::shared_ptr<const float> elsewhere_;
    FileValues in_file_;
    std::shared_ptr<const LazyValues> lazy_;  // kept as long as this: a reader may still hold it
    mutable std::atomic<const float*> ready_ = nullptr;
    mutable std::mutex making_;
    mutable std::shared_ptr<const void> derived_;
    mutable std::atomic<const void*> derived_ready_ = nullptr;  // the same, once it exists
};

}  // namespace decoderscope
