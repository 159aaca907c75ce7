#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

// A place of a source file and what is wrong there.
struct Finding {
    std::size_t line = 0;
    std::string what;
    bool operator==(const Finding&) const = default;
};

// The string literals of C++ source that look like prose, and are no direct argument of one of the functions by which a
// text becomes a message: tr, tr_n, message, message_n, message_c, Error, Sentence. Prose is two words with a space
// between them, or one capitalised word. Exempt: what a programmer alone reads (static_assert, std::logic_error),
// Sentence::verbatim, raw strings, includes, and a line that ends in the comment "not a message: WHY".
[[nodiscard]] std::vector<Finding> prose_that_bypasses(std::string_view source);

// The places of messages ("{count}") for which their call names arguments, and this one isn't among them.
[[nodiscard]] std::vector<Finding> places_without_argument(std::string_view source);

}  // namespace decoderscope::testing
