#pragma once

#include "engine/model/tokenizer/tokenizer.h"

namespace decoderscope {

// A plain list of pieces that label the ids but don't cut text (pieces.json): strings, or objects with a "piece".
// Throws Error naming the entry and what was expected.
[[nodiscard]] Tokenizer parse_pieces(std::string_view json);

}  // namespace decoderscope
