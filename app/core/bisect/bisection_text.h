#pragma once

#include "app/core/bisect/bisection.h"

#include <string>

namespace decoderscope {

// A bisection as the command line prints it.
[[nodiscard]] std::string bisection_text(const Bisection& bisection);

// The same as the contract's JSON: first, theirs, largest, cell, agreed_before, unmatched; and what else was found.
[[nodiscard]] std::string bisection_json(const Bisection& bisection);

}  // namespace decoderscope
