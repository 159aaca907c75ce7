#pragma once

#include "engine/base/json_object.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope::tokenizer {

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

// tokenizer.json writes regular expressions in Oniguruma's notation, with Ruby's syntax. Here they are in PCRE2's, with
// the same meaning: \s is Unicode's White_Space, a property's name alone is a category or a script, $ stands before a
// line's end, (…) remembers nothing. Throws Error naming the part that has no translation here.
[[nodiscard]] std::string pcre2_pattern(std::string_view oniguruma);

// What a step of a tokenizer searches for: a text as it stands, or a regular expression.
class TextPattern {
public:
    // {"String": "a"} or {"Regex": "a+"}. Throws Error naming the key.
    [[nodiscard]] static TextPattern read(JsonObject json);
    explicit TextPattern(std::variant<std::string, RegularExpression> pattern) : pattern_(std::move(pattern)) {}

    // Where it is found, from left to right, without overlaps.
    [[nodiscard]] std::vector<Span> matches(std::string_view text) const;

private:
    std::variant<std::string, RegularExpression> pattern_;
};

}  // namespace decoderscope::tokenizer
