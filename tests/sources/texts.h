#pragma once

#include <initializer_list>
#include <map>
#include <string>

namespace decoderscope::testing {

// Source files by their paths, which begin at the repository's root.
using Texts = std::map<std::string, std::string>;

// All sources and headers of folders at the repository's root.
[[nodiscard]] Texts texts_in(std::initializer_list<const char*> folders);

}  // namespace decoderscope::testing
