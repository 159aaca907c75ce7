#pragma once

#include "engine/tensor/tensor.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load::names {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

[[nodiscard]] inline bool any_name_holds(const Shapes& shapes, std::string_view part) {
    return std::ranges::any_of(shapes, [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
}

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

}  // namespace decoderscope::load::names
