#pragma once

#include "engine/tensor.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

[[nodiscard]] inline bool any_name_holds(const Shapes& shapes, std::string_view part) {
    return std::ranges::any_of(shapes, [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
}

}  // namespace decoderscope
