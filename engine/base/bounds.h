#pragma once

#include "engine/base/error.h"
#include "engine/base/message.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope {

// From where to where a number may be: of an option, of a key of a session, of the control that sets it. What both read
// are the tables of these (app/core/run/bounds.h). NaN is never within.
template <class T>
struct Bounds {
    T least{}, most = std::numeric_limits<T>::max();
    bool above = false, below = false;  // the least, or the most, is itself outside

    [[nodiscard]] constexpr bool hold(T value) const {
        return (above ? value > least : value >= least) && (below ? value < most : value <= most);
    }
    [[nodiscard]] constexpr bool is_endless() const { return most == std::numeric_limits<T>::max(); }
    [[nodiscard]] constexpr T nearest(T value) const { return std::clamp(value, least, most); }
};

// "a whole number from 1 to 32", "a number from 0 and below 1", "a number above 0": what is expected. `most` is empty
// if there is no end.
[[nodiscard]] Sentence expected_number(bool whole, const std::string& least, const std::string& most, bool above,
                                       bool below);

// The shortest text of a number that reads back as the same.
template <class T>
[[nodiscard]] std::string shortest(T number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

template <class T>
[[nodiscard]] Sentence expected_of(const Bounds<T>& bounds) {
    return expected_number(std::integral<T>, shortest(bounds.least),
                           bounds.is_endless() ? std::string() : shortest(bounds.most), bounds.above, bounds.below);
}

// Throws Error naming what a number is of, unless it is within its bounds.
template <class T>
void check_within(const std::string& name, T number, const Bounds<T>& bounds) {
    if (!bounds.hold(number))
        throw Error("{name}: {found}, expected {expected}",
                    {{"name", name}, {"found", shortest(number)}, {"expected", expected_of(bounds)}});
}

// The finite number that a whole text is, as C writes it: "0.5", "-1e-5". Nothing for any other text.
[[nodiscard]] std::optional<double> number_from(std::string_view text);
// As above, of the bounds' type: a whole number is digits alone, and no more than the type has.
template <class T>
[[nodiscard]] std::optional<T> number_within(std::string_view text, const Bounds<T>& bounds) {
    std::optional<T> number;
    if constexpr (std::integral<T>) {
        T read{};
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), read);
        if (failed == std::errc() && end == text.data() + text.size()) number = read;
    } else {
        if (const std::optional<double> read = number_from(text)) number = static_cast<T>(*read);
    }
    return number && bounds.hold(*number) ? number : std::nullopt;
}

}  // namespace decoderscope
