#include "engine/tensor/rows.h"

#include "engine/tensor/memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

namespace decoderscope {

namespace {

// How a tensor's numbers divide into planes.
struct PlaneSizes {
    Index planes = 1, rows = 1, width = 1;
};

PlaneSizes plane_sizes(const Axes& axes) {
    const Axis& rows = axes[axes.size() - 2];
    const Index width = axes.back().size, plane = rows.size * width;
    return {plane == 0 ? 0 : element_count(axes) / plane, rows.size, width};
}

// Planes with room after their rows. Those before `taken` never change again, so that tensors of different lengths can
// share them; the first to take the rows that follow writes them.
class Room {
public:
    Room(const PlaneSizes& sizes, Index capacity)
        : plane_(capacity * sizes.width),
          capacity_(capacity),
          taken_(sizes.rows),
          values_(floats(sizes.planes * plane_)) {}

    [[nodiscard]] float* plane(Index number) { return values_.get() + number * plane_; }
    [[nodiscard]] const float* data() const { return values_.get(); }
    [[nodiscard]] Index apart() const { return plane_; }
    // Takes the rows from `first` up to `end`; false if there is no room for them, or another tensor has taken them.
    [[nodiscard]] bool take(Index first, Index end) {
        return end <= capacity_ && taken_.compare_exchange_strong(first, end);
    }

private:
    Index plane_, capacity_;
    std::atomic<Index> taken_;
    Floats values_;
};

class GrownRows : public LazyValues {
public:
    GrownRows(std::shared_ptr<Room> room, const PlaneSizes& sizes) : room_(std::move(room)), sizes_(sizes) {}

    void make(std::span<float> values) const override {
        const Index plane = sizes_.rows * sizes_.width;
        for (Index number = 0; number < sizes_.planes; ++number)
            std::copy_n(room_->data() + number * room_->apart(), plane, values.data() + number * plane);
    }

    [[nodiscard]] const std::shared_ptr<Room>& room() const { return room_; }

private:
    std::shared_ptr<Room> room_;
    PlaneSizes sizes_;
};

// Room for some more rows than these, with a copy of these.
std::shared_ptr<Room> moved_to_room(const Tensor& rows, const PlaneSizes& sizes, Index capacity) {
    auto room = std::make_shared<Room>(sizes, capacity);
    const Planes from = planes_of(rows);
    for (Index plane = 0; plane < sizes.planes; ++plane)
        std::copy_n(from.data + plane * from.apart, sizes.rows * sizes.width, room->plane(plane));
    return room;
}

constexpr Index kLeastRoom = 32;  // in rows

// How a tensor's numbers divide into rows: `planes` times all rows, each of `width` numbers.
struct Layout {
    Index planes = 1, rows = 0, width = 1;
};

Layout layout_of(const Axes& axes) {
    Layout layout;
    const std::size_t along = *row_axis(axes);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (i < along) layout.planes *= axes[i].size;
        if (i == along) layout.rows = axes[i].size;
        if (i > along) layout.width *= axes[i].size;
    }
    return layout;
}

// Copies rows of each plane of one tensor into rows of another; `count` of them.
void copy_rows(const float* from, Index from_rows, Index from_first, float* to, Index to_rows, Index to_first,
               Index count, const Layout& layout) {
    for (Index plane = 0; plane < layout.planes; ++plane)
        std::copy_n(from + (plane * from_rows + from_first) * layout.width, count * layout.width,
                    to + (plane * to_rows + to_first) * layout.width);
}

// A tensor's rows before `first`, and other rows from there on.
class ReplacedRows : public LazyValues {
public:
    ReplacedRows(Tensor before, Index first, Tensor rows)
        : before_(std::move(before)), first_(first), rows_(std::move(rows)) {}

    void make(std::span<float> values) const override {
        const Layout layout = layout_of(before_.axes());
        const Index replaced = layout.rows - first_;
        copy_rows(before_.data(), layout.rows, 0, values.data(), layout.rows, 0, first_, layout);
        copy_rows(rows_.data(), replaced, 0, values.data(), layout.rows, first_, replaced, layout);
    }

    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override {
        if (rows.first + (rows.count - 1) * rows.apart < first_) return decoderscope::some_rows(before_, rows);
        if (rows.first < first_) return {};
        SomeRows replaced = rows;
        replaced.first -= first_;
        return decoderscope::some_rows(rows_, replaced);
    }

    [[nodiscard]] const Tensor& before() const { return before_; }
    [[nodiscard]] Index first() const { return first_; }

private:
    Tensor before_;
    Index first_;
    Tensor rows_;
};

}  // namespace

Planes planes_of(const Tensor& tensor) {
    if (const auto* grown = tensor.lazy<GrownRows>()) return {grown->room()->data(), grown->room()->apart()};
    return {tensor.data(), tensor.dim(tensor.rank() - 2) * tensor.dim(tensor.rank() - 1)};
}

Tensor with_rows_added(const Tensor& kept, const Tensor& added, Axes axes) {
    const PlaneSizes before = plane_sizes(kept.axes()), more = plane_sizes(added.axes());
    PlaneSizes all = before;
    all.rows += more.rows;
    const auto* grown = kept.lazy<GrownRows>();
    std::shared_ptr<Room> room = grown != nullptr ? grown->room() : nullptr;
    if (room == nullptr || !room->take(before.rows, all.rows)) {
        room = moved_to_room(kept, before, all.rows + std::max(kLeastRoom, all.rows / 4));
        static_cast<void>(room->take(before.rows, all.rows));
    }
    const Planes from = planes_of(added);
    for (Index plane = 0; plane < all.planes; ++plane)
        std::copy_n(from.data + plane * from.apart, more.rows * more.width,
                    room->plane(plane) + before.rows * before.width);
    return {std::move(axes), std::make_shared<const GrownRows>(std::move(room), all)};
}

std::optional<std::size_t> row_axis(const Axes& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].name == axis::pos || axes[i].name == axis::src || axes[i].name == axis::query) return i;
    return std::nullopt;
}

Index row_count(const Axes& axes) {
    const auto along = row_axis(axes);
    return along ? axes[*along].size : 0;
}

Axes with_row_count(Axes axes, Index rows) {
    if (const auto along = row_axis(axes)) axes.resize(*along, rows);
    return axes;
}

std::optional<std::size_t> head_axis(const Axes& axes) {
    const Axis* const found = std::ranges::find(axes, axis::head, &Axis::name);
    if (found == axes.end() || found->size == 1) return std::nullopt;
    return static_cast<std::size_t>(found - axes.begin());
}

Axes of_head(Axes axes) {
    if (const auto along = head_axis(axes)) axes.resize(*along, 1);
    return axes;
}

Tensor of_head(const Tensor& tensor, const Head& head) {
    const auto along = head_axis(tensor.axes());
    if (!along) return tensor;
    Cell first(tensor.rank(), 0);
    first[*along] = head.among(tensor.dim(*along));
    const Axes axes = of_head(tensor.axes());
    if (std::any_of(axes.begin(), axes.begin() + *along, [](const Axis& before) { return before.size != 1; }))
        return part_of(tensor, first, axes);
    return {axes,
            std::shared_ptr<const float>(std::make_shared<const Tensor>(tensor), tensor.data() + tensor.offset(first))};
}

Tensor some_rows(const Tensor& tensor, const SomeRows& rows) {
    const bool all = rows.count == row_count(tensor.axes());
    if (all && !rows.head) return tensor;
    if (const auto* lazy = tensor.lazy<LazyValues>()) {
        Tensor made = lazy->some_rows(rows);
        if (!made.empty()) return made;
    }
    if (all) return of_head(tensor, *rows.head);
    const Layout layout = layout_of(tensor.axes());
    Tensor copy(with_row_count(tensor.axes(), rows.count));
    float* const to = copy.writable().data();
    if (rows.apart == 1)
        copy_rows(tensor.data(), layout.rows, rows.first, to, rows.count, 0, rows.count, layout);
    else
        for (Index i = 0; i < rows.count; ++i)
            copy_rows(tensor.data(), layout.rows, rows.first + i * rows.apart, to, rows.count, i, 1, layout);
    return rows.head ? of_head(copy, *rows.head) : copy;
}

void for_each_piece(const Tensor& tensor, const std::function<void(Index first, std::span<const float> piece)>& take) {
    const ByRows* by_rows = tensor.by_rows();
    if (by_rows == nullptr || by_rows->at_once >= row_count(by_rows->axes))
        return take(0, tensor.for_one_use().values());
    const Layout layout = layout_of(by_rows->axes);
    for (Index first = 0; first < layout.rows; first += by_rows->at_once) {
        const Index count = std::min(by_rows->at_once, layout.rows - first), size = count * layout.width;
        const Tensor rows = some_rows(tensor, first, count);
        for (Index plane = 0; plane < layout.planes; ++plane)
            take((plane * layout.rows + first) * layout.width,
                 rows.values().subspan(static_cast<std::size_t>(plane * size), static_cast<std::size_t>(size)));
    }
}

void put_rows(const Tensor& rows, const Axes& axes, Index first, std::span<float> values) {
    const Layout layout = layout_of(axes);
    const Index count = row_count(rows.axes());
    copy_rows(rows.data(), count, 0, values.data(), layout.rows, first, count, layout);
}

const Tensor& rows_before(const Tensor& tensor, Index end) {
    const auto* replaced = tensor.lazy<ReplacedRows>();
    return replaced != nullptr && replaced->first() >= end ? rows_before(replaced->before(), end) : tensor;
}

Tensor with_rows_from(const Tensor& before, Index first, Tensor rows) {
    // Rows replaced earlier that are now replaced again needn't be kept.
    if (const auto* replaced = before.lazy<ReplacedRows>(); replaced != nullptr && replaced->first() >= first)
        return with_rows_from(replaced->before(), first, std::move(rows));
    Axes axes = before.axes();
    return {std::move(axes), std::make_shared<const ReplacedRows>(before, first, std::move(rows))};
}

Index first_different_row(const Tensor& a, const Tensor& b) {
    const Layout layout = layout_of(a.axes());
    Index first = Changed::kNone;
    for (Index plane = 0; plane < layout.planes; ++plane) {
        for (Index row = 0; row < std::min(layout.rows, first); ++row) {
            const Index at = (plane * layout.rows + row) * layout.width;
            if (std::memcmp(a.data() + at, b.data() + at, static_cast<std::size_t>(layout.width) * sizeof(float)) != 0)
                first = row;
        }
    }
    return first;
}

}  // namespace decoderscope
