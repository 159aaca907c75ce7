#pragma once

#include "engine/tensor.h"

#include <string>
#include <variant>
#include <vector>

namespace decoderscope::lessons {

// Numbers with their axes; a single number has none.
struct Numbers {
    Axes axes;
    std::vector<double> values;

    [[nodiscard]] bool is_single() const { return axes.empty(); }
};
[[nodiscard]] inline Numbers single(double value) { return {{}, {value}}; }
// Numbers along one axis without a name.
[[nodiscard]] Numbers vector_of(std::vector<double> values);

// What an expression comes to: numbers, or a text.
using Value = std::variant<Numbers, std::string>;

// These throw Error where the value is something else.
[[nodiscard]] double number_of(const Value& value);
[[nodiscard]] const Numbers& numbers_of(const Value& value);
[[nodiscard]] const std::string& text_of(const Value& value);
// Whether a condition holds: a single number other than 0. NaN does not hold.
[[nodiscard]] bool holds(const Value& value);

// How a number stands in a lesson's text.
struct Format {
    enum class Kind { plain, decimals, percent };
    Kind kind = Kind::plain;
    int decimals = 0;
    bool with_sign = false;
    bool operator==(const Format&) const = default;
};
// "2", "%", "signed", and several of them separated by spaces. Throws Error for anything else.
[[nodiscard]] Format parse_format(std::string_view text);
// A text stays as it is; several numbers stand side by side.
[[nodiscard]] std::string shown_text(const Value& value, const Format& format = {});

}  // namespace decoderscope::lessons
