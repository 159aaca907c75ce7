#include "engine/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace decoderscope {

namespace {

// Rows start where vector instructions like them, and the order of a vectorised sum never depends on an address.
constexpr std::size_t kAlignment = 64;
// Large ones start where a large page does: handed out 2 MB at a time instead of 4 KB, memory is there much sooner.
constexpr std::size_t kLargePage = std::size_t{1} << 21;

std::shared_ptr<float> allocate(Index size) {
    const std::size_t wanted = static_cast<std::size_t>(size) * sizeof(float);
    const bool large = wanted >= 4 * kLargePage;
    const std::size_t alignment = large ? kLargePage : kAlignment;
    const std::size_t bytes = std::max((wanted + alignment - 1) / alignment * alignment, alignment);
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (large) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));  // a wish: without it, it is only slower
    return {static_cast<float*>(memory), [](float* values) { std::free(values); }};
}

}  // namespace

Index element_count(const Axes& axes) {
    Index count = 1;
    for (const Axis& axis : axes) count *= axis.size;
    return count;
}

std::string shape_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) text += (text.size() > 1 ? ", " : "") + std::to_string(axis.size);
    return text + "]";
}

std::string axes_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) (text += text.size() > 1 ? ", " : "") += axis.name;
    return text + "]";
}

Tensor::Tensor(Axes axes) : axes_(std::move(axes)), size_(element_count(axes_)), storage_(allocate(size_)) {}

Tensor::Tensor(Axes axes, std::span<const float> values) : Tensor(std::move(axes)) {
    if (static_cast<Index>(values.size()) != size_) throw std::logic_error("a tensor's values do not fill its axes");
    std::copy(values.begin(), values.end(), writable().begin());
}

Tensor::Tensor(Axes axes, std::initializer_list<float> values)
    : Tensor(std::move(axes), std::span<const float>(values.begin(), values.size())) {}

Tensor::Tensor(Axes axes, std::shared_ptr<const float> storage)
    : axes_(std::move(axes)), size_(element_count(axes_)), storage_(std::move(storage)) {}

std::span<float> Tensor::writable() {
    if (storage_.use_count() > 1) {
        const std::shared_ptr<float> copy = allocate(size_);
        std::copy(values().begin(), values().end(), copy.get());
        storage_ = copy;
    }
    // Every storage that is held once was made by allocate(), as plain float.
    return {const_cast<float*>(storage_.get()), static_cast<std::size_t>(size_)};
}

Index Tensor::offset(std::span<const Index> cell) const {
    Index offset = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) offset = offset * axes_[axis].size + cell[axis];
    return offset;
}

Cell Tensor::cell(Index offset) const {
    Cell cell(axes_.size());
    for (std::size_t axis = axes_.size(); axis-- > 0; offset /= axes_[axis].size)
        cell[axis] = offset % axes_[axis].size;
    return cell;
}

bool Tensor::contains(std::span<const Index> cell) const {
    if (cell.size() != axes_.size()) return false;
    for (std::size_t axis = 0; axis < cell.size(); ++axis)
        if (cell[axis] < 0 || cell[axis] >= axes_[axis].size) return false;
    return true;
}

Tensor Tensor::beginning(Axes axes) const {
    if (element_count(axes) > size_) throw std::logic_error("there are not as many values");
    return {std::move(axes), storage_};
}

Tensor Tensor::with_axes(Axes axes) const {
    if (element_count(axes) != size_) throw std::logic_error("other axes must hold as many values");
    Tensor other = *this;
    other.axes_ = std::move(axes);
    return other;
}

}  // namespace decoderscope
