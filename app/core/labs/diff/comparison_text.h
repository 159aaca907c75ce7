#pragma once

#include "app/core/run/comparison.h"

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::diff {

// "0", "3.2e-7", "∞": a difference to three digits.
[[nodiscard]] std::string difference_text(double difference);

// The outcome in one sentence: "Nothing differs: 103 tensors are equal bit for bit.", "74 of 103 tensors differ by more
// than 1e-6; 2 are not in both.".
[[nodiscard]] std::string verdict_of(const Comparison& comparison);

// What was measured, as evidence: "103 tensors, 24,576 numbers, largest difference 0".
[[nodiscard]] std::string measured_text(const Comparison& comparison);

// Of a tensor in which no number is apart: "equal", or with `in_full` "equal bit for bit"; of one with NaN in both "NaN
// in both at 3 of 12", as NaN is not equal to NaN.
[[nodiscard]] std::string equality_text(const TensorDifference& difference, bool in_full);

// Why a tensor is not compared number by number: "only in A", "[2, 3] in A, [3, 2] in B"; empty if it is compared.
[[nodiscard]] std::string presence_text(const TensorDifference& difference, std::string_view a, std::string_view b);

// A line of a table: numbers stand in columns; a row without numbers says why.
struct TableRow {
    std::string name;
    std::vector<std::string> numbers;
    std::string text;
};
// The rows below one another, the first of them as the header.
[[nodiscard]] std::string table_text(const std::vector<TableRow>& rows);

// "[0, 2]  0.31  0.3": where the largest difference is, and both numbers.
[[nodiscard]] std::string place_of_largest(const TensorDifference& difference);

// One line per tensor that differs, worst first, below a header: what the command line prints.
[[nodiscard]] std::string difference_table(const Comparison& comparison, std::string_view a, std::string_view b);

}  // namespace decoderscope::core::diff
