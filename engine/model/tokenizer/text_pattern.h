#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/regular_expression.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope {

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

}  // namespace decoderscope
