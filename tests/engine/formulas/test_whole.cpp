// How a whole formula is computed: each way that the plan may choose gives what its cells are worth one by one.
#include "engine/base/random.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/parse.h"
#include "engine/formulas/print.h"
#include "tests/catch.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;

namespace {

std::vector<double> some_numbers(std::size_t count, std::string_view name) {
    const RandomStream random(1, name);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(random.normal(i));
    return numbers;
}

// All cells and each alone.
void check_cells(const char* text, const Operands& operands) {
    INFO(text);
    const Known known = known_of(operands, {});
    const Formula f = elaborate(parse(text, the_book().functions), known, the_book().functions);
    Evaluator evaluator(f, operands, known);
    const std::vector<double> all = evaluator.all();
    const Shape shape = shape_of(f.main);
    Cell cell(shape.size(), 0);
    double farthest = 0.0;
    for (const double number : all) {
        const double alone = evaluator.cell(cell);
        farthest = std::max(farthest, std::abs(number - alone) / (1.0 + std::abs(alone)));
        for (std::size_t i = shape.size(); i-- > 0 && ++cell[i] == shape[i].size;) cell[i] = 0;
    }
    CHECK(farthest < 1e-12);
}

}  // namespace

TEST_CASE("all cells of a formula are what each is alone, whichever of its definitions are parts of others") {
    const std::vector<double> x = some_numbers(2 * 5 * 7, "x"), w = some_numbers(7 * 3, "w"),
                              gain = some_numbers(7, "g");
    const Operands operands = {{"x", {{"b", 2}, {"p", 5}, {"d", 7}}, std::span<const double>(x)},
                               {"w", {{"d", 7}, {"o", 3}}, std::span<const double>(w)},
                               {"gain", {{"d", 7}}, std::span<const double>(gain)}};
    for (const char* text : {
             // A number for each position, of definitions that the reader's own indices choose; and rows of them.
             "y[b, p] = √(v[b, p] + 0.1) where v[b, p] = mean_d (x[b, p, d] − m[b, p])²; m[b, p] = mean_d x[b, p, d]",
             "y[b, p, d] = (x[b, p, d] − m[b, p]) / s[b, p] · gain[d] where m[b, p] = mean_d x[b, p, d];"
             " s[b, p] = √(mean_d (x[b, p, d] − m[b, p])² + 0.1)",
             // One is read at another index, and stays beside its row.
             "y[b, p, d] = e[b, p, d] / Σ_j e[b, p, j] where e[b, p, d] = exp(x[b, p, d] − max_j x[b, p, j])",
             // What doesn't depend on any index of the reader is computed once.
             "y[d] = gain[d] / all where all = Σ_i gain[i]²",
             "y[b, p] = Σ_d x[b, p, d] · gain[d] / n[b] where n[b] = √(Σ_{p, d} x[b, p, d]²)",
             // Reductions of several lengths in each other's places, of which one moves and another is a row.
             "y[b, p, o] = (Σ_d x[b, p, d] · w[d, o]) · (max_i x[b, p, i]) − (Σ_j w[j, o]) + Σ_i w[i, 0] · gain[i]",
             "y[p, d] = (Σ_q x[0, q, d] · (Σ_j x[1, q, j])) + x[0, p, d] · (max_j gain[j]) − mean_j x[1, p, j] · "
             "gain[j]",
             // Matrices' products inside and outside of other things.
             "y[b, p, o] = [p ≥ 1] · (Σ_d x[b, p, d] · w[d, o]) / (1 + Σ_d x[b, p − 1, d]²)",
             // Nothing but elements, through names that are read more than once.
             "y[b, p, d] = u[b, p, d] · v[b, p, d] where v[b, p, d] = u[b, p, d] + u[b, p, d]²; u[b, p, d] = tanh(x[b, "
             "p, d])",
         })
        check_cells(text, operands);
}

TEST_CASE("forty names that are each read twice take no longer than forty operations") {
    const std::vector<double> x = some_numbers(3, "x");
    std::string text = "y[i] = a40[i] where a0[i] = x[i]";
    for (int i = 1; i <= 40; ++i) {
        const std::string before = "a" + std::to_string(i - 1) + "[i]";
        text.append("; a").append(std::to_string(i)).append("[i] = 0.5 · ").append(before).append(" · ").append(before);
    }
    check_cells(text.c_str(), {{"x", {{"i", 3}}, std::span<const double>(x)}});
}

TEST_CASE("what is rounded once is computed in float32, to the bit that double rounds to") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kTiny = 1e-42F;
    const std::vector<float> special = {0.0F,
                                        -0.0F,
                                        1.0F,
                                        -1.0F,
                                        kTiny,
                                        -kTiny,
                                        1e-38F,
                                        3.4e38F,
                                        kInfinity,
                                        -kInfinity,
                                        std::numeric_limits<float>::quiet_NaN()};
    std::vector<float> x, y;
    for (const float a : special)
        for (const float b : special) {
            x.push_back(a);
            y.push_back(b);
        }
    const RandomStream random(1, "floats");
    for (std::uint64_t i = 0; i < 3000; ++i) {  // of all sizes
        x.push_back(static_cast<float>(random.normal(2 * i) * std::exp2(random.normal(i + 9000) * 30.0)));
        y.push_back(static_cast<float>(random.normal(2 * i + 1) * std::exp2(random.normal(i + 19000) * 30.0)));
    }
    const Shape shape = {{"i", static_cast<Index>(x.size())}};
    const Operands operands = {{"x", shape, std::span<const float>(x)}, {"y", shape, std::span<const float>(y)}};
    const Known known = known_of(operands, {});
    for (const char* text :
         {"z[i] = x[i] + y[i]", "z[i] = x[i] − y[i]", "z[i] = x[i] · y[i]", "z[i] = x[i] / y[i]", "z[i] = √x[i]",
          "z[i] = max(0, x[i])", "z[i] = min(x[i], y[i])", "z[i] = x[i] ≤ 0 ? 0 : y[i]", "z[i] = [x[i] > y[i]] · x[i]",
          "z[i] = −abs(x[i]) / 3", "z[i] = 0.5 · x[i]", "z[i] = 0.1 · x[i]",
          "z[i] = [not x[i] = y[i] and x[i] < 1] + y[i]", "z[i] = x[i] / 8", "z[i] = max(x[i], y[i]) · y[i]"}) {
        INFO(text);
        const Formula f = elaborate(parse(text, the_book().functions), known, the_book().functions);
        Evaluator evaluator(f, operands, known);
        const std::vector<double> exact = evaluator.all();
        std::vector<float> floats(x.size());
        evaluator.all(std::span(floats));
        std::size_t others = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto wanted = static_cast<float>(exact[i]);
            const bool same = std::isnan(wanted)
                                  ? std::isnan(floats[i])
                                  : std::bit_cast<std::uint32_t>(wanted) == std::bit_cast<std::uint32_t>(floats[i]);
            others += same ? 0 : 1;
        }
        CHECK(others == 0);
    }
}

// Heads that are merged without being transposed: each cell of z goes to one column of one row.
TEST_CASE("a gradient looks at a condition before it adds up, and is still the derivative") {
    const std::vector<double> z = some_numbers(2 * 3 * 4, "z"), w = some_numbers(5 * 8, "w"),
                              g = some_numbers(3 * 5, "g");
    const Operands operands = {{"z", {{"head", 2}, {"query", 3}, {"d_head", 4}}, std::span<const double>(z)},
                               {"W", {{"out", 5}, {"in", 8}}, std::span<const double>(w)}};
    const Known known = known_of(operands, {});
    const Formula f = elaborate(
        parse("y[p: query, o] = Σ_c z[(p · 8 + c) div 12, (p · 8 + c) div 4 mod 3, (p · 8 + c) mod 4] · W[o, c]"),
        known);
    const Formula slope = derivative(f, "z", known);
    INFO(text_of(slope));
    CHECK(text_of(slope).find("] · Σ_o g[p, o] · W[o, c]") != std::string::npos);
    Operands with_gradient = operands;
    const std::vector<double> y = Evaluator(f, operands, known).all();
    with_gradient.push_back({std::string(kGradient), shape_of(f.main), std::span<const double>(g)});
    with_gradient.push_back({"y", shape_of(f.main), std::span<const double>(y)});
    const std::vector<double> gradient =
        Evaluator(elaborate(slope, known_to_derivative(f, known)), with_gradient, known_to_derivative(f, known)).all();
    // y is linear in z, so that Σ g · y = Σ gradient · z, and each cell of z moves what the law says it moves.
    double moved = 0.0, promised = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) moved += g[i] * y[i];
    for (std::size_t i = 0; i < z.size(); ++i) promised += gradient[i] * z[i];
    CHECK(promised == Approx(moved).epsilon(1e-12));
    for (std::size_t i = 0; i < z.size(); ++i) {
        double by_hand = 0.0;
        for (std::size_t o = 0; o < 5; ++o) by_hand += g[i / 8 * 5 + o] * w[o * 8 + i % 8];
        CHECK(gradient[i] == Approx(by_hand).epsilon(1e-12));
    }
}
