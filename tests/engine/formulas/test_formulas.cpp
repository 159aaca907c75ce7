// The formula language against PyTorch in float64: values and gradients of the whole book and of random formulas in
// both notations, every explanation against its cell, and texts against the values that they are read as.
#include "engine/base/file.h"
#include "engine/base/limits.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/parse.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"
#include "tests/catch.h"
#include "tests/engine/formulas/cases.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;

namespace {

// Far is relative to the numbers that were added up.
double farness(double ours, double theirs) { return std::abs(ours - theirs) / (1.0 + std::abs(theirs)); }

// The largest difference between a line and its terms, or between the last line and the cell.
double largest_gap(Evaluator& evaluator, const Cell& cell, double value) {
    const Explanation explanation = explain(evaluator, cell);
    double gap = farness(explanation.lines.back().value, value);
    for (const Line& line : explanation.lines) {
        double sum = 0.0;
        for (const Term& term : line.terms) {
            double product = 1.0;
            for (const Factor& factor : term.factors) product *= factor.value;
            sum += product;
        }
        gap = std::max(gap, farness(sum, line.value));
    }
    return gap;
}

struct Measured {
    double value = 0.0, gradient = 0.0, explanation = 0.0;
    std::size_t derivatives = 0;
};

// A cell of the shape, not always the same one.
Cell some_cell(const Shape& shape, std::uint64_t seed) {
    Cell cell;
    for (const Dim& dim : shape) cell.push_back(static_cast<Index>(seed++ * 7 % static_cast<std::uint64_t>(dim.size)));
    return cell;
}

std::size_t offset_of(const Shape& shape, const Cell& cell) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
        offset = offset * static_cast<std::size_t>(shape[i].size) + static_cast<std::size_t>(cell[i]);
    return offset;
}

Measured measured(const FormulaCase& c) {
    const Formula f = elaborate(c.formula, c.known, the_book().functions);
    Evaluator evaluator(f, c.operands, c.known);
    const std::vector<double> value = evaluator.all();
    const Shape shape = shape_of(f.main);
    Measured m;
    m.value = farness(weighed(c.seed, "value", value), c.value);
    const Cell cell = some_cell(shape, c.seed);
    m.explanation = largest_gap(evaluator, cell, value[offset_of(shape, cell)]);

    const std::vector<double> arriving = weights_of(c.seed, "value", value.size());
    Operands operands = c.operands;
    operands.push_back({std::string(kGradient), shape, std::span<const double>(arriving)});
    operands.push_back({f.main.name, shape, std::span<const double>(value)});
    const Known known = known_to_derivative(f, c.known);
    for (const auto& [name, theirs] : c.gradients) {
        INFO("with respect to " << name);
        const Formula derived = derivative(f, name, c.known);
        INFO(text_of(derived));
        const Formula slope = elaborate(derived, known);
        Evaluator of_slope(slope, operands, known);
        const std::vector<double> gradient = of_slope.all();
        const double far = farness(weighed(c.seed, "gradient " + name, gradient), theirs);
        CHECK(far < 1e-8);
        m.gradient = std::max(m.gradient, far);
        const Cell at = some_cell(shape_of(slope.main), c.seed);
        m.explanation =
            std::max(m.explanation, largest_gap(of_slope, at, gradient[offset_of(shape_of(slope.main), at)]));
        if (text_of(derived).size() <= limits::kFormulaBytes)
            CHECK(text_of(parse(text_of(derived))) == text_of(derived));
        if (const auto by_hand = the_book().formulas.find(c.name + "." + name); by_hand != the_book().formulas.end()) {
            const Formula same = elaborate(by_hand->second, known, the_book().functions);
            CHECK(farness(weighed(c.seed, "gradient " + name, Evaluator(same, operands, known).all()), theirs) < 1e-9);
        }
        ++m.derivatives;
    }
    return m;
}

void check_random(const Json& all) {
    std::size_t number = 0;
    for (const char* kind : {"random", "random_texts"})
        for (const Json& json : all.at(kind)) {
            if (!is_looked_at(number++, 10)) continue;
            INFO(json.at("seed") << ": " << json.value("formula", json.value("text", "")));
            const FormulaCase c = formula_case(json);
            INFO(text_of(c.formula));
            const Measured m = measured(c);
            CHECK(m.value < 1e-9);
            CHECK(m.gradient < 1e-8);
            CHECK(m.explanation < 1e-9);
        }
}

}  // namespace

TEST_CASE("every formula of the book has PyTorch's values and gradients, and explains them") {
    std::set<std::string> seen;
    std::size_t derivatives = 0;
    for (const Json& json : recorded_formulas().at("book")) {
        const FormulaCase c = formula_case(json);
        INFO(c.name << ": " << text_of(c.formula));
        const Measured m = measured(c);
        CHECK(m.value < 1e-12);
        CHECK(m.gradient < 1e-9);
        CHECK(m.explanation < 1e-9);
        derivatives += m.derivatives;
        seen.insert(c.name);
    }
    for (const auto& [label, formula] : the_book().formulas) {
        INFO(label);
        CHECK(seen.contains(label.substr(0, label.find('.'))));
    }
    CHECK(derivatives > 100);
}

TEST_CASE("random formulas have PyTorch's values and gradients, and explain them") {
    check_random(recorded_formulas());
}

// The file is made by `make_formulas.py 10000 FILE`.
TEST_CASE("random formulas on demand", "[.]") {
    const char* file = std::getenv("DECODERSCOPE_FORMULAS");
    REQUIRE(file != nullptr);
    check_random(Json::parse(read_text(file)));
}

TEST_CASE("what is written in PyTorch's spelling has the value and gradients that PyTorch gives it") {
    for (const Json& json : recorded_formulas().at("texts")) {
        INFO(json.at("text"));
        const FormulaCase c = formula_case(json);
        INFO(text_of(c.formula));
        const Measured m = measured(c);
        CHECK(m.value < 1e-12);
        CHECK(m.gradient < 1e-9);
        CHECK(m.explanation < 1e-9);
    }
}

TEST_CASE("a sum that doesn't read the index around it is computed once, also over a vocabulary of 50,257") {
    constexpr Index kVocab = 50'257;
    std::vector<double> logits;
    for (Index i = 0; i < 2 * kVocab; ++i) logits.push_back(3.0 * std::sin(static_cast<double>(i * i % 9973)));
    const Operands operands = {{"logits", {{"pos", 2}, {"vocab", kVocab}}, std::span<const double>(logits)}};
    const Known known = known_of(operands, {});
    const auto read = [&](const char* text) {
        return elaborate(parse(text, the_book().functions), known, the_book().functions);
    };
    const Formula sure = read("sure[p: pos] = max_v softmax_v(logits[p, v])");
    CHECK(steps_of(sure) < 100.0 * kVocab);
    Evaluator evaluator(sure, operands, known);
    const std::vector<double> found = evaluator.all();
    for (const Index position : {Index{0}, Index{1}}) {
        const std::span<const double> row =
            std::span(logits).subspan(static_cast<std::size_t>(position * kVocab), kVocab);
        const double top = std::ranges::max(row);
        double sum = 0.0;
        for (const double logit : row) sum += std::exp(logit - top);
        CHECK(found[static_cast<std::size_t>(position)] == Approx(1.0 / sum).epsilon(1e-11));
        CHECK(evaluator.cell(std::vector{position}) == Approx(1.0 / sum).epsilon(1e-11));
    }
    // One that reads it is computed for each of its values.
    CHECK_THROWS_AS(read("far[p: pos] = max_v Σ_w abs(logits[p, v] − logits[p, w])"), FormulaError);
}

TEST_CASE("a printed formula is read as the same value, in Unicode and ASCII") {
    std::size_t number = 0;
    const auto check = [](const Formula& f) {
        INFO(text_of(f));
        CHECK(parse(text_of(f), the_book().functions) == f);
        INFO(text_of(f, Script::ascii));
        CHECK(parse(text_of(f, Script::ascii), the_book().functions) == f);
    };
    for (const auto& [label, formula] : the_book().formulas) check(formula);
    for (const char* kind : {"texts", "random", "random_texts"})
        for (const Json& json : recorded_formulas().at(kind))
            if (is_looked_at(number++, 10)) check(formula_case(json).formula);
}

namespace {

// With respect to x, of all numbers of the value, times 1, 2, 3, …, added up.
std::vector<double> gradient_by_x(const std::string& text, const Operands& operands) {
    const Known known = known_of(operands, {});
    const Formula f = elaborate(parse(text), known);
    const std::vector<double> value = Evaluator(f, operands, known).all();
    std::vector<double> arriving(value.size());
    for (std::size_t i = 0; i < arriving.size(); ++i) arriving[i] = static_cast<double>(i + 1);
    Operands all = operands;
    all.push_back({std::string(kGradient), shape_of(f.main), std::span<const double>(arriving)});
    all.push_back({f.main.name, shape_of(f.main), std::span<const double>(value)});
    const Known with_value = known_to_derivative(f, known);
    return Evaluator(elaborate(derivative(f, "x", known), with_value), all, with_value).all();
}

}  // namespace

TEST_CASE("a maximum flow is the smallest cut, found by trying all of them") {
    // Three layers of positions, so two of edges: from each of the upper three to each of the lower.
    constexpr Index width = 3, layers = 2;
    const std::vector<double> numbers{0.5, 0.0, 0.25, 0.1, 0.7, 0.2, 0.3, 0.3, 0.4,
                                      0.9, 0.1, 0.0,  0.2, 0.2, 0.6, 0.0, 0.5, 0.5};
    const Operands operands{{"x", {{"row", layers * width}, {"column", width}}, std::span<const double>(numbers)}};
    const Known known = known_of(operands, {});
    Evaluator evaluator(elaborate(parse("s[i, k] = flow(x[i, k])"), known), operands, known);
    const std::vector<double> values = evaluator.all();
    const auto cut = [&](unsigned side, Index from, Index to) {  // what leaves the side of `from`; infinite for no cut
        const auto is_here = [&](Index node) { return (side >> static_cast<unsigned>(node) & 1U) != 0; };
        if (!is_here(from) || is_here(to)) return std::numeric_limits<double>::infinity();
        double sum = 0.0;
        for (Index row = 0; row < layers * width; ++row)
            for (Index column = 0; column < width; ++column)
                if (is_here(row + width) && !is_here(row / width * width + column))
                    sum += numbers[static_cast<std::size_t>(row * width + column)];
        return sum;
    };
    for (Index row = 0; row < layers * width; ++row)
        for (Index to = 0; to < width; ++to) {
            double least = std::numeric_limits<double>::infinity();
            for (unsigned side = 0; side < 1U << ((layers + 1) * width); ++side)
                least = std::min(least, cut(side, row + width, to));
            CHECK(std::abs(values[static_cast<std::size_t>(row * width + to)] - least) < 1e-12);
        }
}

TEST_CASE("flows between many positions are found, and how many are too many is said") {
    constexpr Index width = 160;  // each position leads to itself and to the first one
    std::vector<double> numbers(std::size_t{2} * width * width, 0.0);
    const auto room = [](Index layer, Index from, Index to) {
        return 0.1 + 0.01 * static_cast<double>((layer * 31 + from * 7 + (to == 0 ? 3 : 0)) % 50);
    };
    const auto at = [&](Index layer, Index from, Index to) -> double& {
        return numbers[static_cast<std::size_t>((layer * width + from) * width + to)];
    };
    for (Index layer = 0; layer < 2; ++layer)
        for (Index from = 0; from < width; ++from)
            for (const Index to : {Index{0}, from}) at(layer, from, to) = room(layer, from, to);
    const Operands operands{{"x", {{"layer", 2}, {"query", width}, {"key", width}}, std::span<const double>(numbers)},
                            {"y", {{"layer", 9}, {"query", width}, {"key", width}}, std::span<const double>(numbers)}};
    const Known known = known_of(operands, {});
    Evaluator evaluator(elaborate(read("max_flow(x)[-1]", known, the_book().functions), known, the_book().functions),
                        operands, known);
    const std::vector<double> values = evaluator.all();
    for (Index from = 1; from < width; ++from) {
        const auto row = values.begin() + from * width;
        CHECK(std::abs(row[from] - std::min(room(1, from, from), room(0, from, from))) < 1e-12);
        CHECK(std::abs(row[0] - std::min(room(1, from, 0), room(0, 0, 0)) -
                       std::min(room(1, from, from), room(0, from, 0))) < 1e-12);
        CHECK(row[from == 1 ? 2 : 1] == 0.0);
    }
    CHECK_THROWS_AS(read("max_flow(y)", known, the_book().functions), FormulaError);
}

TEST_CASE("a product's gradient is all others' product, a running one's too, also of a sub-result that reads itself") {
    const std::vector<double> numbers{1.5, 2.0, -4.0, 0.0, 3.0, 0.5};
    const Operands operands{{"x", {{"row", 2}, {"pos", 3}}, std::span<const double>(numbers)}};
    const std::vector<double> others{1.0 * -8.0, 1.0 * -6.0, 1.0 * 3.0, 2.0 * 1.5, 0.0, 0.0};
    CHECK(gradient_by_x("y[r] = Π_t x[r, t]", operands) == others);
    CHECK(gradient_by_x("y[r: row] = s[r, 2] where s[r, t: pos] = s[r, t − 1] · x[r, t] from 1", operands) == others);
    CHECK(gradient_by_x("s[r, t] = s[r, t − 1] · x[r, t] from 1", operands) ==
          gradient_by_x("s[r, t: pos] = Π_j (j ≤ t ? x[r, j] : 1)", operands));
}

TEST_CASE("singular values are a matrix's lengths in its own directions, and have no gradient") {
    const std::vector<double> numbers{3.0, 0.0, 0.0, 0.0, -4.0, 0.0, 1.0, 2.0, 3.0, 2.0, 4.0, 6.0};
    const Operands operands{{"x", {{"batch", 2}, {"row", 2}, {"column", 3}}, std::span<const double>(numbers)}};
    const Known known = known_of(operands, {});
    const Formula f = elaborate(parse("s[b, i, k] = singular(x[b, i, k])"), known);
    Evaluator evaluator(f, operands, known);
    const std::vector<double> values = evaluator.all();
    const std::vector<double> meant{4.0, 0.0, 0.0, 0.0, 3.0, 0.0, std::sqrt(70.0), 0.0, 0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < meant.size(); ++i) CHECK(std::abs(values[i] - meant[i]) < 1e-12);
    CHECK(explain(evaluator, Cell{1, 0, 0}).lines.back().value == values[6]);
    CHECK(std::abs(evaluator.cell(Cell{0, 1, 1}) - 3.0) < 1e-12);
    for (const char* text : {"s[b, i, k] = 2 · singular(x[b, i, k])", "s[b, i] = Σ_k singular(x[b, i, k])"})
        CHECK_THROWS_AS(elaborate(parse(text), known), FormulaError);
    CHECK_THROWS_AS(derivative(f, "x", known), FormulaError);
}
