#include "engine/tensor/grown_rows.h"

#include "engine/tensor/memory.h"

#include <algorithm>
#include <atomic>
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

}  // namespace decoderscope
