#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// A part of a text, in bytes.
struct Span {
    std::size_t begin = 0, end = 0;
};

// A regular expression in PCRE2's notation, over Unicode's characters. A value; copies share the compiled expression.
class RegularExpression {
public:
    // Throws Error if it can't be compiled, or could match nothing at all: cutting there would never end.
    explicit RegularExpression(const std::string& pattern);

    // Where it matches, from left to right, without overlaps. The text is UTF-8. Throws Error if a search takes too
    // many attempts.
    [[nodiscard]] std::vector<Span> matches(std::string_view text) const;

private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace decoderscope
