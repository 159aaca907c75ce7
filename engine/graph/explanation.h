#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// A cell of one of an operation's operands: where a number came from, and where a click leads next.
struct OperandCell {
    std::size_t operand = 0;
    Cell cell;
};

// One number in a product. `text` is empty if the number is the operand's cell itself; if not, it says how the cell was
// transformed or what the constant is: "exp(0.31 − 1.2)", "1/√16".
struct Factor {
    double value = 0.0;
    std::string text;
    std::optional<OperandCell> cell;
};

// A product of factors.
struct Term {
    std::vector<Factor> factors;
    double value = 0.0;
};

// A named quantity on the way to the cell: the sum of its terms, under the conditions `given` ("mask = 0").
struct Line {
    std::string name;
    std::vector<Term> terms;
    std::vector<Factor> given;
    double value = 0.0;
};

// How one cell was computed, with its actual operands. The last line's value is the cell.
struct Explanation {
    std::vector<Line> lines;
};

// The cell of operand number `operand` as a factor.
[[nodiscard]] Factor cell_factor(const Tensor& tensor, std::size_t operand, Cell cell);
// A number that no operand holds.
[[nodiscard]] Factor constant_factor(double value, std::string text);
// A number computed from an operand's cell as `text` says.
[[nodiscard]] Factor derived_factor(double value, std::string text, std::size_t operand, Cell cell);

// The product of `factors`.
[[nodiscard]] Term term(std::vector<Factor> factors);
// The sum of `terms`.
[[nodiscard]] Line line(std::string name, std::vector<Term> terms);

// Adds to an explanation how its cell is stored: rounded to that type, how far from the exact number.
void explain_rounding(Arithmetic type, float stored, Explanation& explanation);

// A number as explanations write it: four significant digits, "−∞", "NaN", a true minus sign.
[[nodiscard]] std::string short_number(double value);
// A difference of such numbers: "(0.31 − 1.2)", "(0.31 + 1.2)" if the second one is negative.
[[nodiscard]] std::string difference_text(double a, double b);

}  // namespace decoderscope
