#pragma once

#include "engine/base/json.h"
#include "engine/formulas/book.h"
#include "engine/formulas/evaluate.h"

#include <deque>
#include <map>
#include <optional>

namespace decoderscope::testing {

// A formula with operands, and what PyTorch computes for it (tests/reference/make_formulas.py).
struct FormulaCase {
    std::string name;  // the label in the book, or the text
    formulas::Formula formula;
    formulas::Operands operands;
    std::deque<std::vector<double>> numbers;  // the operands'
    formulas::Known known;
    std::uint64_t seed = 0;
    double value = 0.0;                       // Σ w · value
    std::map<std::string, double> gradients;  // Σ v · gradient of that, by operand
};

// Lists of cases: "book"; "texts" in PyTorch's spelling; "random" and "random_texts".
[[nodiscard]] const Json& recorded_formulas();
[[nodiscard]] FormulaCase formula_case(const Json& json);

// The weights w (or v) of a tensor's cells.
[[nodiscard]] std::vector<double> weights_of(std::uint64_t seed, const std::string& name, std::size_t count);
// Σ weights · values.
[[nodiscard]] double weighed(std::uint64_t seed, const std::string& name, const std::vector<double>& values);

}  // namespace decoderscope::testing
