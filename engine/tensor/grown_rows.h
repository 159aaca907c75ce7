#pragma once

#include "engine/tensor/tensor.h"

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

}  // namespace decoderscope
