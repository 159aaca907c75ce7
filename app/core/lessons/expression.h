#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::lessons {

// An expression over a run, as docs/lessons.md describes them: parsed, not computed.
struct Expression;
using ExpressionRef = std::shared_ptr<const Expression>;

struct Expression {
    enum class Kind {
        number,
        text,
        name,    // a variable, a let, or a tensor: `text`
        whole,   // ":" as an index
        index,   // parts[0] at parts[1…]
        unary,   // `text` is "-" or "not"
        binary,  // `text` is the operator
        call,    // `text` is the function
    };
    Kind kind = Kind::number;
    double number = 0.0;
    std::string text;
    std::vector<ExpressionRef> parts;
};

// Throws Error that quotes what was found and says what was expected.
[[nodiscard]] ExpressionRef parse_expression(std::string_view text);

// The expressions separated by commas, but not by those inside of parentheses, brackets or quotes.
[[nodiscard]] std::vector<std::string> split_at(std::string_view text, char separator);

// Names that a lesson gives to expressions.
using Lets = std::map<std::string, ExpressionRef, std::less<>>;

}  // namespace decoderscope::lessons
