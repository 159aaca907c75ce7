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

// The place of one number in a tensor, an index an axis.
using Cell = std::vector<Index>;

// A dense row-major float tensor with named axes. A value: copies share their storage until one of them is written.
class Tensor {
public:
    // No tensor at all: what stands for something absent or not computed.
    Tensor() = default;

    // Room for the values of `axes`, not yet written.
    explicit Tensor(Axes axes);
    Tensor(Axes axes, std::span<const float> values);
    Tensor(Axes axes, std::initializer_list<float> values);
    // Values that live elsewhere; `storage` keeps them alive.
    Tensor(Axes axes, std::shared_ptr<const float> storage);
    Tensor(Axes axes, FileValues in_file);
    // Values that are made when they are first read.
    Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy);
    // The same, made from another form of them.
    Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived);

    [[nodiscard]] bool empty() const { return storage_ == nullptr; }
    [[nodiscard]] const Axes& axes() const { return axes_; }
    [[nodiscard]] std::size_t rank() const { return axes_.size(); }
    [[nodiscard]] Index dim(std::size_t axis) const { return axes_[axis].size; }
    [[nodiscard]] Index size() const { return size_; }

    [[nodiscard]] const float* data() const { return storage_ ? storage_->data() : nullptr; }
    [[nodiscard]] std::span<const float> values() const { return {data(), static_cast<std::size_t>(size_)}; }
    // The values to write to; copied first where another tensor shares them.
    [[nodiscard]] std::span<float> writable();

    [[nodiscard]] float at(std::span<const Index> cell) const { return data()[offset(cell)]; }
    [[nodiscard]] Index offset(std::span<const Index> cell) const;
    [[nodiscard]] Cell cell(Index offset) const;
    [[nodiscard]] bool contains(std::span<const Index> cell) const;

    // The same values under other axes of the same total size.
    [[nodiscard]] Tensor with_axes(Axes axes) const;
    // The first of the values under axes that hold no more than there are.
    [[nodiscard]] Tensor beginning(Axes axes) const;
    // Whether both are one storage: then nothing was computed between them.
    [[nodiscard]] bool shares_values_with(const Tensor& other) const { return storage_ == other.storage_; }
    // The storage: a cache knows by it what it has made from these values.
    [[nodiscard]] std::shared_ptr<const void> identity() const { return storage_; }

    // Whether the values are there: data() makes those that are not.
    [[nodiscard]] bool is_ready() const { return storage_ == nullptr || storage_->lazy() == nullptr; }
    // Whether the values lie in a mapped file.
    [[nodiscard]] bool is_in_file() const { return storage_ && storage_->is_in_file(); }

    // Copies some of the values; of those in a file only these are read.
    void copy(Index first, std::span<float> to) const { storage_->copy(first, to); }
    // Takes some of the values, where they are in a file, out of memory until they are read again.
    void leave_to_file(Index first, Index count) const { storage_->leave_to_file(first, count); }

    // What the values will be made from, where that is a T and they were not read yet; else nullptr.
    template <class T>
    [[nodiscard]] const T* lazy() const {
        return storage_ ? dynamic_cast<const T*>(storage_->lazy()) : nullptr;
    }
    // Another form of the values (a weight packed for its products), made once and kept as long as they are.
    template <class T, class Make>
    [[nodiscard]] const T& derived(const Make& make) const {
        return *static_cast<const T*>(storage_->derived(make));
    }

private:
    Axes axes_;
    Index size_ = 0;
    std::shared_ptr<Storage> storage_;
};

// The first members of a batch, along the first axis; the tensor itself where it has no more.
[[nodiscard]] Tensor first_of_batch(const Tensor& tensor, Index count);

// The block of a tensor that begins at `first` and has these axes, as many as the tensor has. It must lie inside.
[[nodiscard]] Tensor part_of(const Tensor& tensor, const Cell& first, const Axes& axes);

}  // namespace decoderscope
