#pragma once

#include "engine/index.h"
#include "engine/message.h"

#include <cstddef>
#include <string>

namespace decoderscope {

// A whole number with thousands separators: "2,304".
[[nodiscard]] std::string grouped(Index number);

// "1 row", "2,304 rows".
[[nodiscard]] Sentence counted_rows(std::size_t count);
[[nodiscard]] Sentence counted_numbers(std::size_t count);
[[nodiscard]] Sentence counted_steps(std::size_t count);
[[nodiscard]] Sentence counted_tensors(std::size_t count);

}  // namespace decoderscope
