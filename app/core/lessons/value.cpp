#include "app/core/lessons/value.h"

#include "app/core/text/numbers.h"
#include "engine/error.h"

#include <cmath>
#include <sstream>

namespace decoderscope::lessons {

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
        } else if (word == "signed") {
            format.with_sign = true;
        } else if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') {
            format.decimals = word[0] - '0';
            if (format.kind == Format::Kind::plain) format.kind = Format::Kind::decimals;
        } else {
            throw Error("\"{word}\" is no format; expected a number of decimals, %, or signed", {{"word", word}});
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

}  // namespace decoderscope::lessons
