#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

// A place in a source file, and what is wrong there.
struct Finding {
    std::size_t line = 0;
    std::string what;
    bool operator==(const Finding&) const = default;
};

// The string literals of C++ source that look like prose, but are not a direct argument of one of the functions that
// make a text a message: tr, tr_n, message, message_n, message_c, Error, Sentence. Prose is two words with a space
// between them, or one capitalised word. Exempt: what only programmers read (static_assert, std::logic_error),
// Sentence::verbatim, raw strings, includes, and a line that ends in the comment "not a message: WHY".
[[nodiscard]] std::vector<Finding> prose_that_bypasses(std::string_view source);

// The placeholders of messages ("{count}") that are missing from the arguments named in the call.
[[nodiscard]] std::vector<Finding> places_without_argument(std::string_view source);

}  // namespace decoderscope::testing
