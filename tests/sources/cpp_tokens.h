#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

enum class Kind { word, text, raw, sign };

struct Token {
    Kind kind;
    std::string text;  // of a literal: without its quotes, adjacent ones joined
    std::size_t line;
    bool spaced;  // from what is before it
};

struct Source {
    std::vector<Token> tokens;
    std::vector<std::string> includes;  // with their <> or ""
    std::set<std::size_t> exempt;       // lines
};

// The few parts of C++ that the tests of sources look at. Comments and character literals are left out.
[[nodiscard]] Source read_tokens(std::string_view source);

}  // namespace decoderscope::testing
