#pragma once

#include "app/core/sweep/points.h"

#include <string>
#include <string_view>
#include <vector>

// Everything of one kind, changed one at a time.
namespace decoderscope::core::sweep {

// "each head", "each layer", …
[[nodiscard]] std::vector<std::string> names_of_each();
// All of them in a row, for a sentence.
[[nodiscard]] std::string list_of_each();
// Whether a text begins as they do.
[[nodiscard]] bool is_each(std::string_view what);
// The points of "each head" or "each head of blocks.0.attn". Throws Error if there is no such kind or part.
[[nodiscard]] Points each_of(std::string_view what, const Unswept& unswept);

}  // namespace decoderscope::core::sweep
