#include "engine/tensor/storage.h"

#include "engine/base/error.h"
#include "engine/platform/pages.h"
#include "engine/platform/process.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace decoderscope {

// Pages that nothing was written to take no memory.
class RowsInPlace {
public:
    RowsInPlace(const Axes& axes, Index size)
        : axes_(axes),
          bytes_(platform::rounded_up(static_cast<std::size_t>(size) * sizeof(float), platform::kPage)),
          values_(static_cast<float*>(platform::map_pages(bytes_))),
          there_(static_cast<std::size_t>((row_count(axes) + kAtOnce - 1) / kAtOnce)) {}
    RowsInPlace(const RowsInPlace&) = delete;
    RowsInPlace& operator=(const RowsInPlace&) = delete;
    ~RowsInPlace() { platform::unmap_pages(values_, bytes_); }

    [[nodiscard]] const float* values() const { return values_; }

    // Makes the rows around this one, unless they are there.
    void bring_in(Index row, Index size, const LazyValues& lazy) {
        const Index block = row / kAtOnce, first = block * kAtOnce;
        if (there_[static_cast<std::size_t>(block)]) return;
        const Tensor rows = lazy.some_rows({first, std::min(kAtOnce, row_count(axes_) - first)});
        put_rows(rows, axes_, first, {values_, static_cast<std::size_t>(size)});
        there_[static_cast<std::size_t>(block)] = true;
    }

    // Throws Error if they don't fit into the memory that is free: the system would end the program.
    void bring_in_all(Index size, const LazyValues& lazy) {
        check_room();
        if (std::ranges::none_of(there_, std::identity())) return lazy.make({values_, static_cast<std::size_t>(size)});
        // Others may be reading those that are there.
        for (Index row = 0; row < row_count(axes_); row += kAtOnce) bring_in(row, size, lazy);
    }

private:
    void check_room() const {
        const auto missing = static_cast<std::uint64_t>(std::ranges::count(there_, false));
        const std::uint64_t needed = bytes_ / std::max<std::size_t>(there_.size(), 1) * missing;
        const std::optional<std::uint64_t> free = platform::free_bytes_of_memory();
        constexpr std::uint64_t kMega = 1'000'000;
        if (free && needed > *free)
            throw Error(
                "all numbers of this tensor together need {needed} MB, but only {free} MB of memory is free: look at "
                "some of its rows",
                {{"needed", needed / kMega}, {"free", *free / kMega}});
    }

    static constexpr Index kAtOnce = 16;  // rows; neighbours are likely to be read next

    Axes axes_;
    std::size_t bytes_;
    float* values_;
    std::vector<bool> there_;  // each block of rows
};

Storage::~Storage() = default;

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
    if (rows_ == nullptr && lazy_->by_rows() != nullptr)
        rows_ = std::make_unique<RowsInPlace>(lazy_->by_rows()->axes, size_);
    if (rows_ != nullptr) {
        rows_->bring_in_all(size_, *lazy_);
        ready_.store(rows_->values(), std::memory_order_release);
        return rows_->values();
    }
    Floats values = floats(size_);
    lazy_->make({values.get(), static_cast<std::size_t>(size_)});
    own_ = std::move(values);
    ready_.store(own_.get(), std::memory_order_release);
    return own_.get();
}

const float* Storage::with_row(Index row) const {
    const std::lock_guard lock(making_);
    if (const float* values = ready_.load(std::memory_order_relaxed)) return values;
    if (rows_ == nullptr) rows_ = std::make_unique<RowsInPlace>(lazy_->by_rows()->axes, size_);
    rows_->bring_in(row, size_, *lazy_);
    return rows_->values();
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
    if (const LazyValues* values = lazy(); values != nullptr && values->copy(first, to)) return;
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
