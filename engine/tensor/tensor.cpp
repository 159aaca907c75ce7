#include "engine/tensor/tensor.h"

#include "engine/base/error.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace decoderscope {

namespace {

// Values that are made for one computation.
class ForOneUse : public LazyValues {
public:
    explicit ForOneUse(std::shared_ptr<const LazyValues> lazy) : lazy_(std::move(lazy)) {}
    void make(std::span<float> values) const override { lazy_->make(values); }
    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override { return lazy_->some_rows(rows); }
    [[nodiscard]] const ByRows* by_rows() const override { return lazy_->by_rows(); }

private:
    std::shared_ptr<const LazyValues> lazy_;
};

[[noreturn]] void fail(std::string_view text) {
    throw Error("{text}: expected NAME[i, j, …] with an index for each axis, such as logits[0, 1, 2]",
                {{"text", std::string(text)}});
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

Axes unnamed(std::span<const Index> shape) {
    Axes axes;
    for (const Index size : shape) axes.push_back({"", size});
    return axes;
}

std::vector<Index> sizes_of(const Axes& axes) {
    std::vector<Index> sizes;
    for (const Axis& axis : axes) sizes.push_back(axis.size);
    return sizes;
}

Axes named_from_last(Axes axes, std::span<const std::string_view> names) {
    for (std::size_t i = 0; i < axes.size() && i < names.size(); ++i)
        axes.rename(axes.size() - 1 - i, names[names.size() - 1 - i]);
    return axes;
}

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

std::string shape_text(std::span<const Index> shape) { return shape_text(unnamed(shape)); }

std::string axes_text(const Axes& axes) {
    std::string text = "[";
    for (const Axis& axis : axes) (text += text.size() > 1 ? ", " : "") += axis.name;
    return text + "]";
}

Tensor LazyValues::some_rows(const SomeRows&) const { return {}; }
bool LazyValues::copy(Index, std::span<float>) const { return false; }

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

Tensor Tensor::for_one_use() const {
    return may_stay() ? *this : Tensor(axes_, std::make_shared<const ForOneUse>(storage_->shared_lazy()));
}

Tensor Tensor::stored_as(Arithmetic type) const {
    if (type == Arithmetic::float32 || empty()) return *this;
    Tensor stored = *this;
    stored.storage_ =
        storage_->twin(static_cast<std::size_t>(type) - 1, [&] { return rounded_when_read(*this, type).storage_; });
    return stored;
}

std::span<float> Tensor::writable() {
    if (storage_.use_count() > 1 || !storage_->is_plain()) {
        auto copy = std::make_shared<Storage>(size_);
        std::copy(values().begin(), values().end(), copy->writable());
        storage_ = std::move(copy);
    }
    // use_count() orders nothing: what another thread read through its copy comes before what is written now.
    std::atomic_thread_fence(std::memory_order_acquire);
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

std::span<const float> Tensor::row(std::span<const Index> first) const {
    return {with_row_of(first) + offset(first), static_cast<std::size_t>(axes_.back().size - first.back())};
}

const float* Tensor::with_row_of(std::span<const Index> cell) const {
    const ByRows* const made = by_rows();
    const std::optional<std::size_t> along = made != nullptr ? row_axis(made->axes) : std::nullopt;
    // A row along the last axis lies in one of these rows, if the tensor still has the axes that it was made with.
    const bool within = along && *along + 1 < cell.size() && sizes_of(made->axes) == sizes_of(axes_);
    return within ? storage_->with_row(cell[*along]) : data();
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

double euclidean_norm(const Tensor& tensor) {
    double squares = 0.0;
    for (const float value : tensor.values()) squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

CellName parse_cell_name(std::string_view text) {
    const std::size_t open = text.find('[');
    if (open == 0 || open == std::string_view::npos || !text.ends_with(']')) fail(text);
    CellName name = {std::string(text.substr(0, open)), {}};
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        more = comma != std::string_view::npos;
        const std::string_view number = trimmed(rest.substr(0, comma));
        Index index = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (error != std::errc() || end != number.data() + number.size() || index < 0) fail(text);
        name.cell.push_back(index);
        if (more) rest.remove_prefix(comma + 1);
    }
    return name;
}

std::string cell_name(const std::string& tensor, const Cell& cell) {
    std::string index;
    for (const Index i : cell) index += (index.empty() ? "" : ", ") + std::to_string(i);
    return tensor + "[" + index + "]";
}

void check_cell(const CellName& name, const Axes& axes) {
    bool inside = name.cell.size() == axes.size();
    for (std::size_t i = 0; inside && i < axes.size(); ++i) inside = name.cell[i] >= 0 && name.cell[i] < axes[i].size;
    if (!inside)
        throw Error(
            "{cell}: not a cell of this tensor of shape {shape}, expected an index for each of {axes}",
            {{"cell", cell_name(name.tensor, name.cell)}, {"shape", shape_text(axes)}, {"axes", axes_text(axes)}});
}

}  // namespace decoderscope
