#pragma once

#include "tests/sources/cpp_tokens.h"

#include <set>
#include <string>
#include <vector>

namespace decoderscope::testing {

// The names in a source, as far as they can be told without a compiler. It relies on the layout (the test `format`): a
// declarator's & and * stand at the type, an operator's between spaces.
struct Names {
    std::set<std::string> offered;   // defined at a namespace's scope: types, constants, functions
    std::set<std::string> declared;  // anywhere: also members, parameters, variables, and types that are only announced
    std::set<std::string> used;      // types, constants and called functions, but no members
    std::set<std::string> standard;  // used with std:: before them, or std::ranges::
};

[[nodiscard]] Names names_in(const std::vector<Token>& tokens);

}  // namespace decoderscope::testing
