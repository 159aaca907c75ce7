#pragma once

#include "app/core/run/scenario.h"
#include "engine/files/block_numbers.h"
#include "engine/graph/explanation.h"
#include "engine/graph/plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::step {

// "(0.0625 · 6 = 0.375)", "(0.5 · 3 − 0.25 = 1.25)": a number of a weight as its file holds it, scale first.
[[nodiscard]] std::string stored_text(const packed::StoredNumber& stored);

// Writes the weights' numbers of an explanation as their file holds them, if that is in fewer bits. A weight's own cell
// is also explained in this way.
void show_stored(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                 Explanation& explanation);

// All digits that tell a float from its neighbours, with a true minus: "0.25143978", "−∞", "NaN".
[[nodiscard]] std::string exact_number(float value);

// Parses a float as typed: "0.5", "-1e-3", "inf", "-∞", "nan". Returns false if it isn't one.
[[nodiscard]] bool parse_number(std::string_view text, float& value);

// The terms of a line by magnitude, largest first; NaN before all.
[[nodiscard]] std::vector<std::size_t> largest_first(const Line& line);

// One factor: its number, or how it was computed. Negative numbers are in brackets except in first place.
[[nodiscard]] std::string factor_text(const Factor& factor, bool first);

// A line in its numbers, as on a blackboard: "z = 0.62 · 1.4 + 0.31 · (−0.2) + … = 0.83", with its largest terms.
[[nodiscard]] std::string written_out(const Line& line, std::size_t most_terms);

// An entry of a line's list of terms: one term, or a group of terms with their sum, which opens to its parts.
struct TermPart {
    std::string name;                 // "key 3 “a”", "head 0", "d_model 16 to 31"; empty if nothing tells it apart
    double value = 0.0;               // the sum
    std::size_t count = 1;            // how many terms
    std::optional<std::size_t> term;  // its number in the line, if it is one term
    std::vector<TermPart> parts;      // of a group; their sums add up to its value
};

// An explanation and, for each of its lines, the terms as a list: largest first. If they run along several axes of
// their operand, as those of o_proj along head and d_head, they are grouped by the first. Beyond the ten largest they
// are grouped by blocks of what they run along. The entries' sums add up to the line.
struct ReadExplanation {
    Explanation explanation;
    std::vector<std::vector<TermPart>> lines;  // [line, entry]
};

inline constexpr std::size_t kMostTerms = 10;  // listed one by one
inline constexpr std::size_t kFewMore = 5;     // that make no group

// How one cell of a step was computed. The names of tokens are those of the scenario.
[[nodiscard]] ReadExplanation read_explanation(const Scenario& scenario, const Run& run, const Step& step,
                                               const Cell& cell);

}  // namespace decoderscope::core::step
