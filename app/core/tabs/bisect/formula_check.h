#pragma once

#include "engine/base/message.h"
#include "engine/tensor/tensor.h"
#include "engine/trace/trace.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace decoderscope::core::bisect {

// What a function should compute: a formula of tensors that are recorded beside what it gave, in index notation or as
// in PyTorch.
struct Expectation {
    std::string formula;
    std::string got = "got";                                    // the recorded tensor that should be its result
    std::map<std::string, double, std::less<>> constants = {};  // "eps"
    std::map<std::string, std::string, std::less<>> mistakes =
        {};                   // other formulas, by a sentence that says what they do
    double tolerance = 1e-5;  // relative to the result's largest magnitude
};

// A formula that gives what was recorded.
struct FormulaCause {
    std::string formula;
    Sentence sentence;     // "It divides by “√d_model”, not by “√d_head”."
    trace::CodeLine line;  // that made the first numbers of it that are wrong, if it was recorded
};

// The recorded tensor beside its formula.
struct FormulaCheck {
    std::string formula;  // as it should be
    bool agrees = false;
    std::vector<Index> shape, expected_shape;
    double largest = 0.0;  // difference, relative to the formula's largest magnitude
    Cell cell;             // where it is; empty if all are equal, or of another shape
    double expected = 0.0, got = 0.0;
    std::vector<std::string> terms;  // what the expected number is the sum of, largest first
    std::size_t tried = 0;           // formulas
    std::vector<FormulaCause> causes;
    Sentence relation;  // what the recorded numbers are to the formula's, if no cause was found
};

// Holds a recorded tensor against its formula. If they differ, all formulas one node away from it are tried, and the
// mistakes that are given. Throws Error if a tensor isn't there or a formula can't be read.
[[nodiscard]] FormulaCheck check_formula(const trace::Trace& trace, const Expectation& expectation);

[[nodiscard]] std::string formula_check_text(const FormulaCheck& check);
// agrees, formula, largest, cell, expected, got, terms, tried, causes [sentence, formula, line], relation, text.
[[nodiscard]] std::string formula_check_json(const FormulaCheck& check);

}  // namespace decoderscope::core::bisect
