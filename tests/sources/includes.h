#pragma once

#include "tests/sources/texts.h"

#include <string>
#include <vector>

namespace decoderscope::testing {

// What files use although neither they nor what they include declare it, a sentence each: names of the standard library
// and of others, of the project's headers, and of sources in the same folder, with which a file may be compiled
// together.
[[nodiscard]] std::vector<std::string> missing_includes(const Texts& files);

}  // namespace decoderscope::testing
