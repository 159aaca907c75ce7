#include "engine/graph/explanation.h"

#include <cmath>
#include <cstdio>

namespace decoderscope {

Factor cell_factor(const Tensor& tensor, std::size_t operand, Cell cell) {
    const double value = static_cast<double>(tensor.at(cell));
    return {value, {}, OperandCell{operand, std::move(cell)}};
}

Factor constant_factor(double value, std::string text) { return {value, std::move(text), std::nullopt}; }

Factor derived_factor(double value, std::string text, std::size_t operand, Cell cell) {
    return {value, std::move(text), OperandCell{operand, std::move(cell)}};
}

Term term(std::vector<Factor> factors) {
    double product = 1.0;
    for (const Factor& factor : factors) product *= factor.value;
    return {std::move(factors), product};
}

Line line(std::string name, std::vector<Term> terms) {
    double sum = 0.0;
    for (const Term& term : terms) sum += term.value;
    return {std::move(name), std::move(terms), {}, sum};
}

std::string short_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", value);
    std::string text = digits;
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) text.replace(at, 1, "−");
    return text;
}

std::string difference_text(double a, double b) {
    return "(" + short_number(a) + (b < 0.0 ? " + " + short_number(-b) : " − " + short_number(b)) + ")";
}

}  // namespace decoderscope
