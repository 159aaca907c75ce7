#pragma once

#include "engine/tensor/tensor.h"

#include <functional>
#include <limits>
#include <optional>
#include <span>

namespace decoderscope {

// Rows along the axis before the last that grow at their end, as a KV cache does: a tensor with some more of them
// shares the memory of the one that it continues, instead of copying all of it for every token. Each plane (a head of a
// batch row) has room for more rows than it holds; its numbers are put side by side only for code that reads them as
// one array.

// The rows of `kept` followed by those of `added`, plane by plane.   {[…, past, width], [… , more, width]}
[[nodiscard]] Tensor with_rows_added(const Tensor& kept, const Tensor& added, Axes axes);

// Where a tensor's planes [rows, width] are, side by side or with room between them.
struct Planes {
    const float* data;
    Index apart;  // from the beginning of a plane to the next one's
};
[[nodiscard]] Planes planes_of(const Tensor& tensor);

// Rows: a tensor's positions, along its axis pos, src or query. Under a causal mask a row reads no later rows, so a
// change from some row on leaves the rows before it unchanged.
// The part of a tensor that may have changed: all rows from `rows` on and, in every row, the last axis's columns from
// `columns` on.
struct Changed {
    static constexpr Index kNone = std::numeric_limits<Index>::max();
    Index rows = 0;
    Index columns = kNone;
    bool operator==(const Changed&) const = default;
};
inline constexpr Changed kUnchanged = {Changed::kNone, Changed::kNone};

// The axis along which the rows lie; none in a weight.
[[nodiscard]] std::optional<std::size_t> row_axis(const Axes& axes);
// How many rows there are; 0 without such an axis.
[[nodiscard]] Index row_count(const Axes& axes);
// The same axes with `rows` rows.
[[nodiscard]] Axes with_row_count(Axes axes, Index rows);

// The axis along which heads lie, if there are several.
[[nodiscard]] std::optional<std::size_t> head_axis(const Axes& axes);
// One head of a tensor, along an axis of length 1; the tensor itself if it has no others. Shares the values if they lie
// side by side.
[[nodiscard]] Tensor of_head(const Tensor& tensor, const Head& head);
[[nodiscard]] Axes of_head(Axes axes);

// Some of the rows, and those from `first` on. What comes by rows is made only as far as it is asked for.
[[nodiscard]] Tensor some_rows(const Tensor& tensor, const SomeRows& rows);
[[nodiscard]] inline Tensor some_rows(const Tensor& tensor, Index first, Index count) {
    return some_rows(tensor, {first, count});
}
[[nodiscard]] inline Tensor rows_from(const Tensor& tensor, Index first) {
    return some_rows(tensor, first, row_count(tensor.axes()) - first);
}
// Gives `take` all of a tensor's values in pieces of whole rows along the last axis, each with the place of its first
// value among them. What comes by rows is made some rows at a time, and the planes that these belong to are far apart.
void for_each_piece(const Tensor& tensor, const std::function<void(Index first, std::span<const float> piece)>& take);
// Writes rows to where they belong among the values of a tensor of these axes, from row `first` on.
void put_rows(const Tensor& rows, const Axes& axes, Index first, std::span<float> values);
// A tensor with the same rows before `end` as this one; later rows may differ. If rows were replaced, this saves
// assembling them.
[[nodiscard]] const Tensor& rows_before(const Tensor& tensor, Index end);
// `before` with its rows from `first` on replaced; assembled when first read.
[[nodiscard]] Tensor with_rows_from(const Tensor& before, Index first, Tensor rows);

// The first row in which two tensors of the same axes differ in a bit; kNone if there is none.
[[nodiscard]] Index first_different_row(const Tensor& a, const Tensor& b);

}  // namespace decoderscope
