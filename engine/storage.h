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

// Values in a mapped file. Their pages may be left to the system: it reads them again on demand.
struct FileValues {
    std::shared_ptr<const float> first;     // keeps the mapping
    std::shared_ptr<const int> descriptor;  // the open file
    std::int64_t offset = 0;                // of the first value in it, in bytes
};

// Where a tensor's numbers lie. Safe to read from several threads; written only while one tensor holds it.
class Storage {
public:
    // Room for so many values, not yet written.
    explicit Storage(Index size);
    // Values that live elsewhere, never written to.
    explicit Storage(std::shared_ptr<const float> elsewhere);
    Storage(Index size, FileValues in_file);
    // Values that are made when data() is first called.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy);
    // The same, made from what would otherwise be derived from them.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived);
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    [[nodiscard]] const float* data() const {
        const float* values = ready_.load(std::memory_order_acquire);
        return values != nullptr ? values : made();
    }
    // Whether it may be written to: its values are its own, there already, and nothing was derived from them.
    [[nodiscard]] bool is_plain() const { return own_ != nullptr && derived_ == nullptr; }
    [[nodiscard]] float* writable() { return own_.get(); }

    [[nodiscard]] bool is_in_file() const { return in_file_.first != nullptr; }
    // What the values will be made from; nullptr once they are there.
    [[nodiscard]] const LazyValues* lazy() const {
        return ready_.load(std::memory_order_acquire) == nullptr ? lazy_.get() : nullptr;
    }

    // What was derived from the values, made by the first who asks: `make` returns a shared_ptr to it.
    template <class Make>
    [[nodiscard]] const void* derived(const Make& make) const {
        const void* known = derived_ready_.load(std::memory_order_acquire);
        return known != nullptr ? known : derive(make);
    }
    // Copies some of the values. Where there are many, in a file, only these are read: the system would map them
    // together with many of their neighbours, which are not wanted.
    void copy(Index first, std::span<float> to) const;
    // Takes some of the values, where they are in a file, out of memory until they are read again.
    void leave_to_file(Index first, Index count) const;

private:
    [[nodiscard]] const float* made() const;
    [[nodiscard]] const void* derive(const std::function<std::shared_ptr<const void>()>& make) const;

    Index size_ = 0;
    mutable Floats own_;
    std::shared_ptr<const float> elsewhere_;
    FileValues in_file_;
    std::shared_ptr<const LazyValues> lazy_;  // kept for good: a reader may still hold it
    mutable std::atomic<const float*> ready_ = nullptr;
    mutable std::mutex making_;
    mutable std::shared_ptr<const void> derived_;
    mutable std::atomic<const void*> derived_ready_ = nullptr;  // the same, once it is there
};

}  // namespace decoderscope
