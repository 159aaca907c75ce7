#include "app/core/lessons/expression.h"

#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/formulas/parse.h"

#include <cmath>
#include <sstream>

namespace decoderscope::core::lessons {

namespace {

constexpr int kDigits = 3;

std::string shown_number(double value, const Format& format) {
    std::string text;
    if (format.kind == Format::Kind::percent)
        text = fixed_text(value * 100.0, format.decimals) + " %";
    else if (format.kind == Format::Kind::decimals)
        text = fixed_text(value, format.decimals);
    else
        text = short_number_text(value, kDigits);
    return format.with_sign && value > 0.0 ? "+" + text : text;
}

}  // namespace

Numbers vector_of(std::vector<double> values) {
    Axes axes;
    axes.push_back({"", static_cast<Index>(values.size())});
    return {std::move(axes), std::move(values)};
}

const Numbers& numbers_of(const Value& value) {
    if (const auto* numbers = std::get_if<Numbers>(&value)) return *numbers;
    throw Error("'{text}' is a text; expected a number", {{"text", std::get<std::string>(value)}});
}

double number_of(const Value& value) {
    const Numbers& numbers = numbers_of(value);
    if (numbers.values.size() == 1) return numbers.values.front();
    throw Error("these are {count} numbers, of shape {shape}; expected one",
                {{"count", numbers.values.size()}, {"shape", shape_text(numbers.axes)}});
}

const std::string& text_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    throw Error("this is a number; expected a text in single quotes");
}

bool holds(const Value& value) {
    const double number = number_of(value);
    return !std::isnan(number) && number != 0.0;
}

Format parse_format(std::string_view text) {
    Format format;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (word == "%") {
            format.kind = Format::Kind::percent;
        } else if (word == "holds") {
            format.kind = Format::Kind::claim;
        } else if (word == "signed") {
            format.with_sign = true;
        } else if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') {
            format.decimals = word[0] - '0';
            if (format.kind == Format::Kind::plain) format.kind = Format::Kind::decimals;
        } else {
            throw Error("\"{word}\" is not a format; expected a number of decimals, %, signed, or holds",
                        {{"word", word}});
        }
    }
    return format;
}

std::string shown_text(const Value& value, const Format& format) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    std::string all;
    for (const double number : std::get<Numbers>(value).values)
        all += (all.empty() ? "" : ", ") + shown_number(number, format);
    return all;
}

const std::string* name_in(const Expression& e) {
    const auto* constant = std::get_if<formulas::Constant>(&e.what);
    return constant != nullptr && constant->name.front() != '\'' ? &constant->name : nullptr;
}

std::optional<std::string> text_in(const Expression& e) {
    const auto* constant = std::get_if<formulas::Constant>(&e.what);
    return constant != nullptr && constant->name.front() == '\'' ? std::optional(constant->name.substr(1))
                                                                 : std::nullopt;
}

const std::string* function_in(const Expression& e) {
    const auto* call = std::get_if<formulas::Call>(&e.what);
    return call != nullptr ? &call->function : nullptr;
}

ExpressionRef parse_expression(std::string_view text) {
    constexpr std::size_t kQuoted = 400;
    try {
        return formulas::parse_asked(text);
    } catch (const formulas::FormulaError& error) {
        throw Error("in \"{text}\": {problem}",
                    {{"text", valid_utf8(text.substr(0, kQuoted))}, {"problem", error.sentence()}});
    }
}

std::vector<std::string> split_at(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') quoted = !quoted;
        if (!quoted && (c == '(' || c == '[')) ++depth;
        if (!quoted && (c == ')' || c == ']')) --depth;
        if (c == separator && depth == 0 && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

}  // namespace decoderscope::core::lessons
