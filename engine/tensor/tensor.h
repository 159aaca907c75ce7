#pragma once

#include "engine/base/index.h"
#include "engine/tensor/arithmetic.h"
#include "engine/tensor/storage.h"

#include <algorithm>
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

// One axis of a tensor: the field's name for it ("batch", "query", …; a literal, never owned) and its length.
struct Axis {
    std::string_view name;
    Index size = 0;

    bool operator==(const Axis&) const = default;
};

// The axes of a tensor, the outermost first. A value: copies share one list, which never changes, because a run has
// hundreds of tensors and each forward pass creates them with axes that its plan already has.
class Axes {
public:
    Axes() = default;
    Axes(std::initializer_list<Axis> axes)
        : axes_(axes.size() > 0 ? std::make_shared<const std::vector<Axis>>(axes) : nullptr) {}

    [[nodiscard]] std::size_t size() const { return axes_ ? axes_->size() : 0; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] const Axis* begin() const { return axes_ ? axes_->data() : nullptr; }
    [[nodiscard]] const Axis* end() const { return begin() + size(); }
    const Axis& operator[](std::size_t i) const { return (*axes_)[i]; }
    [[nodiscard]] const Axis& front() const { return axes_->front(); }
    [[nodiscard]] const Axis& back() const { return axes_->back(); }

    void replace(std::size_t i, Axis axis) {
        change([&](std::vector<Axis>& axes) { axes[i] = axis; });
    }
    void rename(std::size_t i, std::string_view name) { replace(i, {name, (*this)[i].size}); }
    void resize(std::size_t i, Index size) { replace(i, {(*this)[i].name, size}); }
    void push_back(Axis axis) {
        change([&](std::vector<Axis>& axes) { axes.push_back(axis); });
    }

    bool operator==(const Axes& other) const { return axes_ == other.axes_ || std::ranges::equal(*this, other); }

private:
    template <class Change>
    void change(const Change& make) {
        std::vector<Axis> axes(begin(), end());
        make(axes);
        axes_ = std::make_shared<const std::vector<Axis>>(std::move(axes));
    }

    std::shared_ptr<const std::vector<Axis>> axes_;  // nullptr: none
};

// The names of the decoder's axes.
namespace axis {
inline constexpr std::string_view batch = "batch";
inline constexpr std::string_view pos = "pos";
inline constexpr std::string_view src = "src";
inline constexpr std::string_view head = "head";
inline constexpr std::string_view query = "query";
inline constexpr std::string_view key = "key";
inline constexpr std::string_view d_model = "d_model";
inline constexpr std::string_view d_head = "d_head";
inline constexpr std::string_view d_ff = "d_ff";
inline constexpr std::string_view vocab = "vocab";
inline constexpr std::string_view one = "1";
inline constexpr std::string_view out = "out";
inline constexpr std::string_view in = "in";
inline constexpr std::string_view bucket = "bucket";
inline constexpr std::string_view expert = "expert";
inline constexpr std::string_view slot = "slot";  // of a position: one for each of its experts
inline constexpr std::string_view rank = "rank";  // of latent attention
}  // namespace axis

// Axes of this shape without names, as a file has them.
[[nodiscard]] Axes unnamed(std::span<const Index> shape);
// The shape without the names.
[[nodiscard]] std::vector<Index> sizes_of(const Axes& axes);
// The same axes with these names, matched from the last axis as in broadcasting. Axes left over at the front keep their
// names.
[[nodiscard]] Axes named_from_last(Axes axes, std::span<const std::string_view> names);

// How many numbers a tensor of these axes holds.
[[nodiscard]] Index element_count(const Axes& axes);

// "[2, 8, 6, 6]": a shape as messages and the inspector write it.
[[nodiscard]] std::string shape_text(const Axes& axes);
[[nodiscard]] std::string shape_text(std::span<const Index> shape);
// "[batch, head, query, key]".
[[nodiscard]] std::string axes_text(const Axes& axes);

// Values that are made some rows (engine/tensor/rows.h) at a time: the axes of all of them, and how many rows are best
// made at once.
struct ByRows {
    Axes axes;
    Index at_once = 0;
};

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
    // As above, computed from another form of them.
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

    [[nodiscard]] float at(std::span<const Index> cell) const {
        const float* const values = storage_->ready();
        return (values != nullptr ? values : with_row_of(cell))[offset(cell)];
    }
    [[nodiscard]] Index offset(std::span<const Index> cell) const;
    [[nodiscard]] Cell cell(Index offset) const;
    [[nodiscard]] bool contains(std::span<const Index> cell) const;
    // The numbers along the last axis that begin at a cell: the whole row if its last index is 0.
    [[nodiscard]] std::span<const float> row(std::span<const Index> first) const;
    [[nodiscard]] std::span<const float> row(std::initializer_list<Index> first) const {
        return row(std::span(first.begin(), first.size()));
    }

    // The same values under other axes of the same total size.
    [[nodiscard]] Tensor with_axes(Axes axes) const;
    // The first of the values, under axes of at most the same total size.
    [[nodiscard]] Tensor beginning(Axes axes) const;
    // Whether both share one storage, so that nothing was computed between them.
    [[nodiscard]] bool shares_values_with(const Tensor& other) const { return storage_ == other.storage_; }
    // The storage, as a cache key for results derived from these values.
    [[nodiscard]] std::shared_ptr<const void> identity() const { return storage_; }

    // The same numbers as that type stores them. Two calls give tensors that share their values, as long as one of them
    // exists: a weight is rounded once, however many plans read it.
    [[nodiscard]] Tensor stored_as(Arithmetic type) const;

    // Whether the values exist; if not, data() computes them.
    [[nodiscard]] bool is_ready() const { return storage_ == nullptr || storage_->lazy() == nullptr; }
    // This tensor; or the same values, to be made again and dropped with what is returned, if they may not stay in
    // memory.
    [[nodiscard]] Tensor for_one_use() const;
    // Whether the values may stay in memory.
    [[nodiscard]] bool may_stay() const {
        const LazyValues* lazy = storage_ ? storage_->lazy() : nullptr;
        return lazy == nullptr || lazy->may_stay();
    }
    // How the values are best read, if all together may be more than there is memory for: by some_rows(), row() or
    // at(); otherwise nullptr.
    [[nodiscard]] const ByRows* by_rows() const {
        const LazyValues* lazy = storage_ ? storage_->lazy() : nullptr;
        return lazy != nullptr ? lazy->by_rows() : nullptr;
    }
    // Whether the values lie in a mapped file.
    [[nodiscard]] bool is_in_file() const { return storage_ && storage_->is_in_file(); }

    // Copies some of the values; from a file, only these are read.
    void copy(Index first, std::span<float> to) const { storage_->copy(first, to); }
    // Releases the memory of some of the values, if they are in a file, until they are read again.
    void leave_to_file(Index first, Index count) const { storage_->leave_to_file(first, count); }

    // What the values will be computed from, if that is a T and they were not read yet; otherwise nullptr.
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
    // Where the values are, or will be once they are read; those of the cell's row are there.
    [[nodiscard]] const float* with_row_of(std::span<const Index> cell) const;

    Axes axes_;
    Index size_ = 0;
    std::shared_ptr<Storage> storage_;
};

// The first members of a batch, along the first axis; the tensor itself if it has no more.
[[nodiscard]] Tensor first_of_batch(const Tensor& tensor, Index count);

// The block of a tensor that begins at `first` and has these axes, as many as the tensor has. It must lie inside.
[[nodiscard]] Tensor part_of(const Tensor& tensor, const Cell& first, const Axes& axes);

// The root of the sum of the squares of all of its numbers.
[[nodiscard]] double euclidean_norm(const Tensor& tensor);

// A cell as people write it: "blocks.0.attn.z[0, 1, 2, 3]".
struct CellName {
    std::string tensor;
    Cell cell;
};

// Throws Error quoting the text if it isn't one.
[[nodiscard]] CellName parse_cell_name(std::string_view text);
// "blocks.0.attn.z[0, 1, 2, 3]", which parse_cell_name reads.
[[nodiscard]] std::string cell_name(const std::string& tensor, const Cell& cell);
// Throws Error naming the tensor if these axes have no such cell.
void check_cell(const CellName& name, const Axes& axes);

}  // namespace decoderscope
