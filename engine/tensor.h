#pragma once

#include "engine/axes.h"
#include "engine/storage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// The position of one number in a tensor, one index per axis.
using Cell = std::vector<Index>;

// A dense row-major float tensor with named axes. A value: copies share their storage until one of them is written.
class Tensor {
public:
    // No tensor: absent or not computed.
    Tensor() = default;

    // Uninitialised values for `axes`.
    explicit Tensor(Axes axes);
    Tensor(Axes axes, std::span<const float> values);
    Tensor(Axes axes, std::initializer_list<float> values);
    // Values stored elsewhere; `storage` keeps them alive.
    Tensor(Axes axes, std::shared_ptr<const float> storage);
    Tensor(Axes axes, FileValues in_file);
    // Values computed when they are first read.
    Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy);
    // The same, computed from another form of them.
    Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived);

    [[nodiscard]] bool empty() const { return storage_ == nullptr; }
    [[nodiscard]] const Axes& axes() const { return axes_; }
    [[nodiscard]] std::size_t rank() const { return axes_.size(); }
    [[nodiscard]] Index dim(std::size_t axis) const { return axes_[axis].size; }
    [[nodiscard]] Index size() const { return size_; }

    [[nodiscard]] const float* data() const { return storage_ ? storage_->data() : nullptr; }
    [[nodiscard]] std::span<const float> values() const { return {data(), static_cast<std::size_t>(size_)}; }
    // The values, for writing; copied first if another tensor shares them.
    [[nodiscard]] std::span<float> writable();

    [[nodiscard]] float at(std::span<const Index> cell) const { return data()[offset(cell)]; }
    [[nodiscard]] Index offset(std::span<const Index> cell) const;
    [[nodiscard]] Cell cell(Index offset) const;
    [[nodiscard]] bool contains(std::span<const Index> cell) const;

    // The same values under other axes of the same total size.
    [[nodiscard]] Tensor with_axes(Axes axes) const;
    // The first of the values, under axes of at most the same total size.
    [[nodiscard]] Tensor beginning(Axes axes) const;
    // Whether both share one storage, so that nothing was computed between them.
    [[nodiscard]] bool shares_values_with(const Tensor& other) const { return storage_ == other.storage_; }
    // The storage, as a cache key for results derived from these values.
    [[nodiscard]] std::shared_ptr<const void> identity() const { return storage_; }

    // Whether the values exist; if not, data() computes them.
    [[nodiscard]] bool is_ready() const { return storage_ == nullptr || storage_->lazy() == nullptr; }
    // Whether the values lie in a mapped file.
    [[nodiscard]] bool is_in_file() const { return storage_ && storage_->is_in_file(); }

    // Copies some of the values; from a file, only these are read.
    void copy(Index first, std::span<float> to) const { storage_->copy(first, to); }
    // Releases the memory of some of the values, if they are in a file, until they are read again.
    void leave_to_file(Index first, Index count) const { storage_->leave_to_file(first, count); }

    // What the values will be computed from, if that is a T and they were not read yet; else nullptr.
    template <class T>
    [[nodiscard]] const T* lazy() const {
        return storage_ ? dynamic_cast<const T*>(storage_->lazy()) : nullptr;
    }
    // Another form of the values (a weight packed for its products), created once and kept as long as they are.
    template <class T, class Make>
    [[nodiscard]] const T& derived(const Make& make) const {
        return *static_cast<const T*>(storage_->derived(make));
    }

private:
    Axes axes_;
    Index size_ = 0;
    std::shared_ptr<Storage> storage_;
};

// The first members of a batch, along the first axis; the tensor itself if it has no more.
[[nodiscard]] Tensor first_of_batch(const Tensor& tensor, Index count);

// The block of a tensor that begins at `first` and has these axes, as many as the tensor has. It must lie inside.
[[nodiscard]] Tensor part_of(const Tensor& tensor, const Cell& first, const Axes& axes);

}  // namespace decoderscope
