#pragma once

#include "engine/index.h"

#include <algorithm>
#include <cstddef>
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

// The axes of a tensor, the outermost first. A value: copies share one list until one of them is written, because a run
// has hundreds of tensors and each forward pass creates them with axes that its plan already has.
class Axes {
public:
    Axes() = default;
    Axes(std::initializer_list<Axis> axes)
        : axes_(axes.size() > 0 ? std::make_shared<std::vector<Axis>>(axes) : nullptr) {}

    [[nodiscard]] std::size_t size() const { return axes_ ? axes_->size() : 0; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] const Axis* begin() const { return axes_ ? axes_->data() : nullptr; }
    [[nodiscard]] const Axis* end() const { return begin() + size(); }
    const Axis& operator[](std::size_t i) const { return (*axes_)[i]; }
    [[nodiscard]] const Axis& front() const { return axes_->front(); }
    [[nodiscard]] const Axis& back() const { return axes_->back(); }

    void replace(std::size_t i, Axis axis) { own()[i] = axis; }
    void rename(std::size_t i, std::string_view name) { own()[i].name = name; }
    void resize(std::size_t i, Index size) { own()[i].size = size; }
    void push_back(Axis axis) { own().push_back(axis); }

    bool operator==(const Axes& other) const { return axes_ == other.axes_ || std::ranges::equal(*this, other); }

private:
    std::vector<Axis>& own() {
        if (!axes_)
            axes_ = std::make_shared<std::vector<Axis>>();
        else if (axes_.use_count() > 1)
            axes_ = std::make_shared<std::vector<Axis>>(*axes_);
        return *axes_;
    }

    std::shared_ptr<std::vector<Axis>> axes_;  // nullptr: none
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

// "[2, 8, 6, 6]", as messages and the inspector write a shape.
[[nodiscard]] std::string shape_text(const Axes& axes);
[[nodiscard]] std::string shape_text(std::span<const Index> shape);
// "[batch, head, query, key]".
[[nodiscard]] std::string axes_text(const Axes& axes);

}  // namespace decoderscope
