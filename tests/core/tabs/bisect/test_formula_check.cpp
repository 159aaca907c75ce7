#include "app/core/tabs/bisect/formula_check.h"
#include "engine/formulas/book.h"
#include "engine/formulas/edits.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using core::bisect::check_formula;
using core::bisect::Expectation;
using core::bisect::FormulaCheck;

namespace {

trace::TraceTensor tensor(const std::string& name, const std::vector<Index>& shape, const std::vector<float>& values) {
    Axes axes;
    for (const Index size : shape) axes.push_back({"", size});
    return {name, "F32", shape, Tensor(axes, values)};
}

// Numbers with one seed a name, so that no two tensors are alike.
std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> all(count);
    std::ranges::generate(all, [&] { return normal(random); });
    return all;
}

const std::vector<float> kX = numbers(12, 1), kW = numbers(16, 2);

// x is [3, 4], w is [4, 4]; y is what `cell` says.
trace::Trace recorded(const auto& cell) {
    std::vector<float> got;
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 4; ++column) got.push_back(static_cast<float>(cell(row, column)));
    trace::Trace trace;
    trace.path = "mine.safetensors";
    trace.tensors = {tensor("x", {3, 4}, kX), tensor("w", {4, 4}, kW), tensor("y", {3, 4}, got)};
    return trace;
}

// Σ_i x[row, i] · w[column, i].
double linear(std::size_t row, std::size_t column) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i)
        sum += static_cast<double>(kX[row * 4 + i]) * static_cast<double>(kW[column * 4 + i]);
    return sum;
}

Expectation expected(const std::string& formula) {
    Expectation expectation;
    expectation.formula = formula;
    expectation.got = "y";
    return expectation;
}

std::vector<std::string> sentences(const FormulaCheck& check) {
    std::vector<std::string> all;
    for (const auto& cause : check.causes) all.push_back(cause.sentence.english());
    return all;
}

}  // namespace

TEST_CASE("what a formula says agrees, in both notations; what is one node away is named, with the worst cell") {
    for (const char* formula : {"y[r, c] = Σ_i x[r, i] · w[c, i]", "x @ w.mT"}) {
        INFO(formula);
        CHECK(check_formula(recorded(linear), expected(formula)).agrees);
        const FormulaCheck turned =
            check_formula(recorded([](std::size_t row, std::size_t column) {
                              double sum = 0.0;
                              for (std::size_t i = 0; i < 4; ++i)
                                  sum += static_cast<double>(kX[row * 4 + i]) * static_cast<double>(kW[i * 4 + column]);
                              return sum;
                          }),
                          expected(formula));
        CHECK(!turned.agrees);
        REQUIRE(!turned.causes.empty());
        CHECK(turned.causes[0].sentence.english().starts_with("It multiplies by “w["));
        REQUIRE(turned.cell.size() == 2);
        CHECK(turned.expected ==
              Approx(linear(static_cast<std::size_t>(turned.cell[0]), static_cast<std::size_t>(turned.cell[1]))));
        CHECK(turned.terms.size() == 4);
    }
}

TEST_CASE("a number, another axis, another function and a mistake that was given are found") {
    Expectation scaled = expected("y[r, c] = Σ_i x[r, i] · w[c, i] / √d_head");
    scaled.constants = {{"d_head", 4.0}, {"d_model", 16.0}};
    const FormulaCheck by_model =
        check_formula(recorded([](std::size_t row, std::size_t column) { return linear(row, column) / 4.0; }), scaled);
    CHECK(std::ranges::count(sentences(by_model), "It divides by “√d_model”, not by “√d_head”.") == 1);

    const FormulaCheck along = check_formula(recorded([](std::size_t row, std::size_t column) {
                                                 double sum = 0.0;
                                                 for (std::size_t r = 0; r < 3; ++r)
                                                     sum += std::exp(kX[r * 4 + column]);
                                                 return std::exp(kX[row * 4 + column]) / sum;
                                             }),
                                             expected("y[r, c] = softmax_c(x[r, c])"));
    CHECK(sentences(along).front() == "It computes “softmax_r(x[r, c])”, not “softmax_c(x[r, c])”.");

    const FormulaCheck relu = check_formula(
        recorded([](std::size_t row, std::size_t column) { return std::max(kX[row * 4 + column], 0.0F); }),
        expected("silu(x)"));
    CHECK(std::ranges::any_of(sentences(relu),
                              [](const std::string& said) { return said.starts_with("It computes “relu("); }));

    Expectation given = expected("x");
    given.mistakes = {{"It is squared twice.", "x ** 4"}};
    const auto fourth = [](std::size_t row, std::size_t column) { return std::pow(kX[row * 4 + column], 4.0F); };
    CHECK(sentences(check_formula(recorded(fourth), given)) == std::vector<std::string>{"It is squared twice."});
}

TEST_CASE("what no formula explains says how many were tried, and what it is to the right numbers") {
    const FormulaCheck odd = check_formula(
        recorded([](std::size_t row, std::size_t column) { return 1.37 * linear(row, column); }), expected("x @ w.mT"));
    CHECK(odd.causes.empty());
    CHECK(odd.tried > 10);
    CHECK(odd.relation.english() == "theirs are ours times 1.37");
    const FormulaCheck shape = check_formula(recorded(linear), expected("y[r] = Σ_i x[r, i]"));
    CHECK(!shape.agrees);
    CHECK(formula_check_text(shape).starts_with("Its shape is [3, 4], expected [3].\n"));
}

TEST_CASE(
    "a call is of what it is called on, along another index, or of another function; a formula without one has none") {
    const auto& functions = formulas::the_book().functions;
    const auto changed = formulas::call_edits(formulas::parse("y[b, k] = softmax_k(x[b, k])", functions), functions);
    const auto is = [&](const std::string& formula) {
        const formulas::Formula wanted = formulas::parse(formula, functions);
        return std::ranges::count_if(changed, [&](const formulas::Edit& edit) { return edit.formula == wanted; });
    };
    CHECK(is("y[b, k] = softmax_b(x[b, k])") == 1);
    CHECK(is("y[b, k] = log_sum_exp_k(x[b, k])") == 1);
    CHECK(is("y[b, k] = x[b, k]") == 1);
    CHECK(is("y[b, k] = softmax_k(x[b, k])") == 0);
    CHECK(formulas::call_edits(formulas::parse("y[b, k] = 2 · x[b, k]", functions), functions).empty());
}

TEST_CASE("check: a tensor that isn't there, a formula that can't be read and a number that is none are one sentence") {
    CHECK_THROWS_WITH(check_formula(trace::Trace{}, expected("x")),
                      ": there is no tensor y, expected what is to be checked");
    CHECK_THROWS_WITH(check_formula(recorded(linear), expected("x @ v")), Catch::Matchers::ContainsSubstring("v"));
    using decoderscope::testing::run;
    const auto failed = run({"check", "mine.npz", "--formula", "x", "--number", "eps=small"});
    CHECK(failed.status == 2);
    CHECK(failed.err == "decoderscope: --number: eps=small, expected KEY=NUMBER\n");
}
