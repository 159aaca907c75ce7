#pragma once

#include "app/core/answer/table.h"
#include "app/core/run/comparison.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::diff {

// Two files of one model, say the original and a quantised one: how far each weight moved.
// The parameters that a run reads, under the contract's names, in the order of its plan.
[[nodiscard]] NamedTensors weights_of(const Run& run);

// Whether two runs are of different files: no parameter of the one is a parameter of the other, in the same memory. One
// model under two configurations shares them, although each may lack some of the other's.
[[nodiscard]] bool has_other_weights(const Run& a, const Run& b);

// Like worst_first(), but by the largest difference relative to the tensor's scale: weights of different tensors have
// different scales.
[[nodiscard]] std::vector<std::size_t> furthest_first(const Comparison& comparison);

// One line per tensor that differs, furthest first, below a header: the largest difference, relative to the tensor's
// scale, the mean, and where the largest is.
[[nodiscard]] std::string moves_table(const Comparison& comparison, std::string_view a, std::string_view b);

// "0", "3.2e-7", "∞": a difference to three digits.
[[nodiscard]] std::string difference_text(double difference);

// The outcome in one sentence: "Nothing differs: 103 tensors are equal bit for bit.", "74 of 103 tensors differ by more
// than 1e-6; 2 are not in both.".
[[nodiscard]] std::string verdict_of(const Comparison& comparison);

// The first tensor that differs, in the order of computation, where and by how much: "The first to differ is
// blocks.0.attn.mask, by up to 1 at [0, 0, 4, 0]". Empty if none does. `a` and `b` say which run is which.
[[nodiscard]] Sentence first_difference(const Comparison& comparison, std::string_view a = "A",
                                        std::string_view b = "B");

// What was measured, as evidence: "103 tensors, 24,576 numbers, largest difference 0".
[[nodiscard]] std::string measured_text(const Comparison& comparison);

// Of a tensor in which no number is apart: "equal", or with `in_full` "equal bit for bit"; of one with NaN in both "NaN
// in both at 3 of 12", as NaN is not equal to NaN.
[[nodiscard]] std::string equality_text(const TensorDifference& difference, bool in_full);

// Why a tensor is not compared number by number: "only in A", "[2, 3] in A, [3, 2] in B"; empty if it is compared.
[[nodiscard]] std::string presence_text(const TensorDifference& difference, std::string_view a, std::string_view b);

// The tensors of a comparison as an answer in rows, in this order; those of `plan`, A's, lead to their steps.
[[nodiscard]] Table table_of(const Comparison& comparison, std::span<const std::size_t> order, const Plan& plan);

// A line of a table: numbers stand in columns; a row without numbers says why.
struct TextRow {
    std::string name;
    std::vector<std::string> numbers;
    std::string text;
};
// The rows below one another, the first of them as the header.
[[nodiscard]] std::string table_text(const std::vector<TextRow>& rows);

// "[0, 2]  0.31  0.3": where the largest difference is, and both numbers.
[[nodiscard]] std::string place_of_largest(const TensorDifference& difference);

// One line per tensor that differs, worst first, below a header: what the command line prints.
[[nodiscard]] std::string difference_table(const Comparison& comparison, std::string_view a, std::string_view b);

}  // namespace decoderscope::core::diff
