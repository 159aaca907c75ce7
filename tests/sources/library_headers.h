#pragma once

#include <set>
#include <string>

namespace decoderscope::testing {

// The headers that a name of the standard library comes from ("<vector>" of "vector"), none if it isn't known here. "*"
// stands for nearly all of them.
[[nodiscard]] std::set<std::string> standard_headers_of(const std::string& name);

// The headers of another library's names, by how they begin: "<imgui.h>" of "ImVec2". Empty if no library has such
// names.
[[nodiscard]] std::set<std::string> library_headers_of(const std::string& name);

}  // namespace decoderscope::testing
