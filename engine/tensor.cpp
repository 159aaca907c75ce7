#include "engine/tensor.h"

#include <algorithm>
#include <stdexcept>

namespace decoderscope {

Tensor LazyValues::rows_from(Index) const { return {}; }

Tensor::Tensor(Axes axes)
    : axes_(std::move(axes)), size_(element_count(axes_)), storage_(std::make_shared<Storage>(size_)) {}

Tensor::Tensor(Axes axes, std::span<const float> values) : Tensor(std::move(axes)) {
    if (static_cast<Index>(values.size()) != size_) throw std::logic_error("a tensor's values do not fill its axes");
    std::copy(values.begin(), values.end(), writable().begin());
}

Tensor::Tensor(Axes axes, std::initializer_list<float> values)
    : Tensor(std::move(axes), std::span<const float>(values.begin(), values.size())) {}

Tensor::Tensor(Axes axes, std::shared_ptr<const float> storage)
    : axes_(std::move(axes)), size_(element_count(axes_)), storage_(std::make_shared<Storage>(std::move(storage))) {}

Tensor::Tensor(Axes axes, FileValues in_file)
    : axes_(std::move(axes)),
      size_(element_count(axes_)),
      storage_(std::make_shared<Storage>(size_, std::move(in_file))) {}

Tensor::Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived)
    : axes_(std::move(axes)),
      size_(element_count(axes_)),
      storage_(std::make_shared<Storage>(size_, std::move(lazy), std::move(derived))) {}

Tensor::Tensor(Axes axes, std::shared_ptr<const LazyValues> lazy)
    : axes_(std::move(axes)),
      size_(element_count(axes_)),
      storage_(std::make_shared<Storage>(size_, std::move(lazy))) {}

std::span<float> Tensor::writable() {
    if (storage_.use_count() > 1 || !storage_->is_plain()) {
        auto copy = std::make_shared<Storage>(size_);
        std::copy(values().begin(), values().end(), copy->writable());
        storage_ = std::move(copy);
    }
    return {storage_->writable(), static_cast<std::size_t>(size_)};
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
    return {std::move(axes), std::shared_ptr<const float>(storage_, data())};
}

Tensor Tensor::with_axes(Axes axes) const {
    if (element_count(axes) != size_) throw std::logic_error("other axes must hold as many values");
    Tensor other = *this;
    other.axes_ = std::move(axes);
    return other;
}

Tensor first_of_batch(const Tensor& tensor, Index count) {
    if (tensor.rank() == 0 || tensor.dim(0) <= count) return tensor;
    Axes axes = tensor.axes();
    axes.resize(0, count);
    return tensor.beginning(axes);
}

Tensor part_of(const Tensor& tensor, const Cell& first, const Axes& axes) {
    if (axes == tensor.axes()) return tensor;
    Tensor part(axes);
    const Index row = axes.empty() ? 1 : axes.back().size;  // a row of the last axis is contiguous
    float* to = part.writable().data();
    for (Index done = 0; done < part.size(); done += row) {
        Cell from = part.cell(done);
        for (std::size_t axis = 0; axis < from.size(); ++axis) from[axis] += first[axis];
        to = std::copy_n(tensor.data() + tensor.offset(from), row, to);
    }
    return part;
}

}  // namespace decoderscope
