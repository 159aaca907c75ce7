#pragma once

#include "engine/explanation.h"

#include <string>
#include <vector>

namespace decoderscope {

// All digits that tell a float from its neighbours, with a true minus: "0.25143978", "−∞", "NaN".
[[nodiscard]] std::string exact_number(float value);

// Parses a float as typed: "0.5", "-1e-3", "inf", "-∞", "nan". Returns false if it is none.
[[nodiscard]] bool parse_number(std::string_view text, float& value);

// The terms of a line by magnitude, largest first; NaN before all.
[[nodiscard]] std::vector<std::size_t> largest_first(const Line& line);

// One factor: its number, or how it was computed. Negative numbers are in brackets except in first place.
[[nodiscard]] std::string factor_text(const Factor& factor, bool first);

// A whole line as one text: "x · w = 0.31·1.2 + 0.2·(−0.4) + … = 0.447", at most `most` terms, the rest summed.
[[nodiscard]] std::string line_text(const Line& line, std::size_t most);

}  // namespace decoderscope
