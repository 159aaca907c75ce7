#pragma once

#include "engine/index.h"

#include <string>
#include <string_view>

namespace decoderscope {

// A whole number with its thousands apart: "2,304".
[[nodiscard]] std::string grouped(Index number);

// "1 row", "2,304 rows".
[[nodiscard]] std::string counted(std::size_t count, std::string_view thing);

}  // namespace decoderscope
