#pragma once

#include "engine/base/bounds.h"
#include "engine/base/error.h"
#include "engine/base/index.h"
#include "engine/base/message.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::core {

// Runs `work`; an Error gets the file and the line in front.
template <class Work>
auto at_line(const std::string& path, int line, Work work) {
    return naming(path + ":" + std::to_string(line), work);
}

// A number to `digits` significant digits, with a proper minus: "0.500", "−12.3", "1.20e-5", "0", "NaN", "∞", "−∞".
// Whole numbers below 100,000 keep all their digits.
[[nodiscard]] std::string number_text(double value, int digits);

// A number with this many decimals, so that a column of them aligns at the decimal point: "0.50", "−1.25", "NaN", "∞".
[[nodiscard]] std::string fixed_text(double value, int decimals);

// number_text() without trailing zeros, unless they show that the number was rounded.
[[nodiscard]] std::string short_number_text(double value, int digits);

// A whole number with thousands separators: "2,304".
[[nodiscard]] std::string grouped(Index number);

// "1 row", "2,304 rows".
[[nodiscard]] Sentence counted_rows(std::size_t count);
[[nodiscard]] Sentence counted_numbers(std::size_t count);
[[nodiscard]] Sentence counted_steps(std::size_t count);
[[nodiscard]] Sentence counted_tensors(std::size_t count);

}  // namespace decoderscope::core
