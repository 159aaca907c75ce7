#pragma once

#include "engine/tensor.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace decoderscope {

// One head's attention pattern in one batch row. Plain spans; the tensors that they refer to are kept alive elsewhere.
struct Pattern {
    Index queries = 0, keys = 0;
    std::span<const float> weights;         // [query, key], each row a softmax
    std::span<const Index> seen;            // [query], how many keys the mask lets through; empty if it lets all
    std::span<const std::uint8_t> padding;  // [query], 1 = the query is padding; empty if none is
};

// The measures of a pattern. Each is a mean over the query rows that count: padding rows don't, nor do rows with a NaN
// (nothing left to attend to).
enum class PatternMeasure {
    entropy,   // −Σ w·log2 w, in bits: 0 = all weight on one key, log2 n = even over n keys
    spread,    // entropy / log2(keys that the mask lets through), 1 = even; rows that see fewer than two keys are left
               // out
    largest,   // the largest weight of the row
    previous,  // the weight on the previous token, key = query − 1; the first row has none and is left out
    first,     // the weight on the first token, key = 0
    diagonal,  // the weight on the token itself, key = query; rows beyond the last key are left out
};
inline constexpr std::array kPatternMeasures = {PatternMeasure::entropy, PatternMeasure::spread,
                                                PatternMeasure::largest, PatternMeasure::previous,
                                                PatternMeasure::first,   PatternMeasure::diagonal};

// A value for each measure, in the order of kPatternMeasures; NaN if no row counts.
using PatternMeasures = std::array<double, kPatternMeasures.size()>;

// The mean of one measure over the rows that count; NaN if none does.
[[nodiscard]] double measured(const Pattern& pattern, PatternMeasure measure);
// All of them.
[[nodiscard]] PatternMeasures measured(const Pattern& pattern);

// The largest possible value of a measure over this many keys: log2(keys) bits for the entropy, else 1.
[[nodiscard]] double highest_possible(PatternMeasure measure, Index keys);

// "Entropy", "Previous", …: the label of a button.
[[nodiscard]] std::string_view measure_name(PatternMeasure measure);
// "bits"; empty for shares between 0 and 1.
[[nodiscard]] std::string_view measure_unit(PatternMeasure measure);
// One sentence for display: what the measure says about a head.
[[nodiscard]] std::string_view measure_sentence(PatternMeasure measure);

}  // namespace decoderscope
