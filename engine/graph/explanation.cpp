#include "engine/graph/explanation.h"

#include "engine/base/translate.h"

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

namespace {

// What rounding did to a number: "rounding: 0.31 ulp".
std::string rounding_text(Arithmetic type, double exact, double stored) {
    if (std::isinf(stored)) return tr("too large for {type}", {{"type", std::string(name_of(type))}});
    if (stored == 0.0) return tr("too small for {type}", {{"type", std::string(name_of(type))}});
    const double ulps = std::abs(exact - stored) / ulp_at(stored, type);
    return tr("rounding: {ulps} ulp", {{"ulps", short_number(std::round(ulps * 100.0) / 100.0)}});
}

}  // namespace

void explain_rounding(Arithmetic type, float stored, Explanation& explanation) {
    const double exact = explanation.lines.back().value;
    // An edit comes after it, in lines of its own.
    const float expected = rounded(static_cast<float>(exact), type);
    const double apart = std::abs(static_cast<double>(expected) - static_cast<double>(stored));
    if (!(apart <= 2.0 * ulp_at(static_cast<double>(expected), type))) stored = expected;
    const auto number = static_cast<double>(stored);
    if (number == exact || std::isnan(exact) || std::isinf(exact)) return;
    explanation.lines.push_back(line(tr("as {type}", {{"type", std::string(name_of(type))}}),
                                     {term({constant_factor(exact, tr("before rounding"))}),
                                      term({constant_factor(number - exact, rounding_text(type, exact, number))})}));
}

std::string short_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", value + 0.0);  // 0 · −2 is 0 here, not −0
    std::string text = digits;
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) text.replace(at, 1, "−");
    return text;
}

std::string difference_text(double a, double b) {
    return "(" + short_number(a) + (b < 0.0 ? " + " + short_number(-b) : " − " + short_number(b)) + ")";
}

}  // namespace decoderscope
