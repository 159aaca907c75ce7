#pragma once

#include "engine/base/error.h"
#include "engine/formulas/formula.h"
#include "engine/tensor/tensor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope::core::lessons {

// Numbers with their axes; a single number has none.
struct Numbers {
    Axes axes;
    std::vector<double> values;

    [[nodiscard]] bool is_single() const { return axes.empty(); }
};
[[nodiscard]] inline Numbers single(double value) { return {{}, {value}}; }
// Numbers along one axis without a name.
[[nodiscard]] Numbers vector_of(std::vector<double> values);

// What an expression evaluates to: numbers, or a text.
using Value = std::variant<Numbers, std::string>;

// These throw Error if the value is something else.
[[nodiscard]] double number_of(const Value& value);
[[nodiscard]] const Numbers& numbers_of(const Value& value);
[[nodiscard]] const std::string& text_of(const Value& value);
// Whether a condition holds: a single number other than 0. NaN does not hold.
[[nodiscard]] bool holds(const Value& value);

// How a number stands in a lesson's text.
struct Format {
    enum class Kind { plain, decimals, percent, claim };  // a claim is no number: it says whether its sentence is true
    Kind kind = Kind::plain;
    int decimals = 0;
    bool with_sign = false;
    bool operator==(const Format&) const = default;
};
// "2", "%", "signed", "holds", and several of them separated by spaces. Throws Error for anything else.
[[nodiscard]] Format parse_format(std::string_view text);
// A text stays as it is; several numbers stand side by side.
[[nodiscard]] std::string shown_text(const Value& value, const Format& format = {});

// An expression over a run, as docs/lessons.md describes them: parsed (formulas::parse_asked), not computed.
using Expression = formulas::Node;
using ExpressionRef = formulas::Expr;

// A variable, a let or a tensor by its name; the text in quotes; the function that is called, "[]" for a part. Null if
// the expression is something else.
[[nodiscard]] const std::string* name_in(const Expression& expression);
[[nodiscard]] std::optional<std::string> text_in(const Expression& expression);
[[nodiscard]] const std::string* function_in(const Expression& expression);

// Throws Error that quotes the text and says what is wrong with it.
[[nodiscard]] ExpressionRef parse_expression(std::string_view text);

// What `make` returns; `otherwise` if it throws Error: what is open may not have what a lesson asks about.
template <class Value, class Make>
[[nodiscard]] Value made_or(Value otherwise, Make make) {
    try {
        return make();
    } catch (const Error&) {
        return otherwise;
    }
}

// The expressions separated by commas, but not by those inside parentheses, brackets or quotes.
[[nodiscard]] std::vector<std::string> split_at(std::string_view text, char separator);

// Names that a lesson gives to expressions.
using Lets = std::map<std::string, ExpressionRef, std::less<>>;

}  // namespace decoderscope::core::lessons
