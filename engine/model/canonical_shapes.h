#pragma once

#include "engine/model/shapes.h"

#include <string>
#include <string_view>

namespace decoderscope {

// What parameters' names and shapes say; all of them under the contract's names.

[[nodiscard]] Index rows_of(const Shapes& shapes, const std::string& name);     // 0 if there is no such parameter
[[nodiscard]] Index columns_of(const Shapes& shapes, const std::string& name);  // 0 if it is no matrix
// The blocks of a stack; `prefix` is "" or "encoder.".
[[nodiscard]] Index count_layers(const Shapes& shapes, const std::string& prefix);

[[nodiscard]] bool is_projection(std::string_view name);  // a weight that only products read
[[nodiscard]] bool is_norm(std::string_view name);        // a gain
[[nodiscard]] bool any_norm_has_bias(const Shapes& shapes);
[[nodiscard]] bool any_projection_has_bias(const Shapes& shapes);

// Zero biases compute the same as none.
void add_zero_biases(Shapes& shapes, bool norms);

}  // namespace decoderscope
