#pragma once

#include <optional>
#include <string>
#include <string_view>

// Numbers as learners type them: "0.84", "0,84", "4,096", "1/8", "84 %", "15 tokens".
namespace decoderscope::core::lessons {

// How a language writes numbers: between groups of three digits, and before the fraction.
struct NumberSigns {
    char group = ',', point = '.';
};
// Those of the spoken language.
[[nodiscard]] NumberSigns spoken_number_signs();

struct TypedNumber {
    double number = 0.0;
    bool is_plain = true;  // digits and a point: nothing had to be interpreted

    // What it was read as: the shortest text of the number, "4096".
    [[nodiscard]] std::string read_as() const;
};

// The finite number that a text stands for; nothing if it isn't one.
[[nodiscard]] std::optional<TypedNumber> typed_number(std::string_view text, NumberSigns signs = spoken_number_signs());

// The rules of reading as JSON, for a lesson's page: assets/pages/lesson.js reads numbers by the same ones. `replace`:
// pairs of texts that are replaced first; `whole`: what a number is, with groups for the number, what it is divided by,
// a sign of percent, and a word behind it; `forms`: of a number, which characters are dropped, and which one is the
// point; `plain`: what needs no interpretation. The expressions are ECMAScript's.
[[nodiscard]] std::string reading_rules(NumberSigns signs = spoken_number_signs());

}  // namespace decoderscope::core::lessons
