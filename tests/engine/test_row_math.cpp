// Row operations in vector instructions, against the C++ library's functions one number at a time.
#include "engine/base/random.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/tensor/row_math.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::ops;

namespace {

std::vector<float> spread(std::size_t count, double width) {
    const RandomStream random(3, "row");
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(width * random.normal(i)));
    return values;
}

// An activation of the book in double, and its slope, one number at a time.
class ByTheBook {
public:
    explicit ByTheBook(ActivationKind kind) {
        const formulas::Functions& functions = formulas::the_book().functions;
        for (const char* name : {"x", "y", "g"})
            operands_.push_back({name, {{"n", 1}}, std::span<const double>(&numbers_[operands_.size()], 1)});
        formulas::Known known = formulas::known_of({operands_[0]}, {});
        const auto value =
            elaborate(formulas::parse("y[n] = " + std::string(kind.name) + "(x[n])", functions), known, functions);
        value_ = {value, known};
        known = known_to_derivative(value, known);
        slope_ = {elaborate(derivative(value, "x", value_.known), known, functions), known};
    }
    ByTheBook(const ByTheBook&) = delete;
    ByTheBook& operator=(const ByTheBook&) = delete;

    double value(double x) {
        numbers_[0] = x;
        return of(value_);
    }
    double slope(double x) {
        numbers_[1] = value(x);
        return of(slope_);
    }

private:
    struct Elaborated {
        formulas::Formula formula;
        formulas::Known known;
    };
    double of(const Elaborated& e) const {
        return formulas::Evaluator(e.formula, operands_, e.known).cell(std::vector<Index>{0});
    }

    std::array<double, 3> numbers_ = {0.0, 0.0, 1.0};
    formulas::Operands operands_;
    Elaborated value_, slope_;
};

// The distance of two floats in representable steps, 0 if they are the same.
std::int64_t steps_between(float a, float b) {
    const auto place = [](float x) {
        const auto bits = std::bit_cast<std::int32_t>(x);
        return static_cast<std::int64_t>(bits < 0 ? std::numeric_limits<std::int32_t>::min() - bits : bits);
    };
    return std::abs(place(a) - place(b));
}

}  // namespace

TEST_CASE("a softmax has the nearest floats to the exponentials over their sum") {
    for (std::size_t width = 1; width <= 768; width += width < 40 ? 1 : 364) {
        const std::vector<float> x = spread(3 * width, 30.0);
        std::vector<float> y(x.size()), alone(width);
        row::softmax(x, width, y);
        row::softmax(std::span(x).subspan(width, width), width, alone);
        CHECK(std::ranges::equal(alone, std::span(y).subspan(width, width)));
        for (std::size_t row = 0; row < x.size(); row += width) {
            const float highest = *std::max_element(x.begin() + static_cast<std::ptrdiff_t>(row),
                                                    x.begin() + static_cast<std::ptrdiff_t>(row + width));
            const auto exponential = [&](std::size_t i) { return std::exp(static_cast<double>(x[i] - highest)); };
            double sum = 0.0;
            for (std::size_t i = row; i < row + width; ++i) sum += exponential(i);
            for (std::size_t i = row; i < row + width; ++i)
                if (steps_between(y[i], static_cast<float>(exponential(i) / sum)) > 2)
                    FAIL("softmax of " << x[i] << " is " << y[i] << ", not " << exponential(i) / sum);
        }
    }
}

TEST_CASE("exponentials are the nearest floats, and a masked score's is 0") {
    // Of two numbers, one of them 0, the other has the weight e^x / (1 + e^x).
    for (int i = 0; i <= 60'000; ++i) {
        const auto x = static_cast<float>(-105.0 + i * 0.0014);
        std::vector<float> pair = {0.0F, x};
        row::softmax(pair, 2, pair);
        const double exponential = std::exp(static_cast<double>(x));
        const auto nearest = static_cast<float>(exponential / (1.0 + exponential));
        if (steps_between(pair[1], nearest) > 2) FAIL("of " << x << ": " << pair[1] << ", not " << nearest);
    }
    std::vector<float> edge = {-kInfinity, -1e30F, 0.0F, -kInfinity};
    row::softmax(edge, edge.size(), edge);
    CHECK(edge == std::vector<float>{0.0F, 0.0F, 1.0F, 0.0F});
    std::vector<float> nothing_left(20, -kInfinity);
    row::softmax(nothing_left, nothing_left.size(), nothing_left);
    CHECK(std::ranges::all_of(nothing_left, [](float weight) { return std::isnan(weight); }));
    std::vector<float> spoilt = {1.0F, kNan, 0.0F};
    row::softmax(spoilt, spoilt.size(), spoilt);
    CHECK(std::ranges::all_of(spoilt, [](float weight) { return std::isnan(weight); }));
}

TEST_CASE("sines and cosines are the nearest floats, also of angles of many turns and near their zeros") {
    std::vector<float> angles = {0.0F, 1e-30F, 999'999.0F, 3e6F, -1e30F};
    for (int i = -40'000; i <= 40'000; ++i) {
        angles.push_back(static_cast<float>(i * 0.0007));
        angles.push_back(static_cast<float>(i));
        angles.push_back(static_cast<float>(static_cast<double>(i) * std::numbers::pi / 4.0));  // beside a zero
    }
    std::vector<float> sines(angles.size()), cosines(angles.size());
    row::sines_and_cosines(angles, sines, cosines);
    for (std::size_t i = 0; i < angles.size(); ++i) {
        const auto angle = static_cast<double>(angles[i]);
        if (steps_between(sines[i], static_cast<float>(std::sin(angle))) > 1 ||
            steps_between(cosines[i], static_cast<float>(std::cos(angle))) > 1)
            FAIL("of " << angles[i] << ": " << sines[i] << " and " << cosines[i] << ", not " << std::sin(angle)
                       << " and " << std::cos(angle));
    }
    const std::vector<float> lost = {kInfinity, kNan};
    std::vector<float> lost_sines(2), lost_cosines(2);
    row::sines_and_cosines(lost, lost_sines, lost_cosines);
    CHECK(std::ranges::all_of(lost_sines, [](float sine) { return std::isnan(sine); }));
    CHECK(std::ranges::all_of(lost_cosines, [](float cosine) { return std::isnan(cosine); }));
}

TEST_CASE("sums and squares of rows of any length") {
    for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 31U, 100U, 768U}) {
        const std::vector<float> x = spread(n, 10.0);
        double sum = 0.0, squares = 0.0;
        for (const float value : x) sum += static_cast<double>(value);
        for (const float value : x) squares += (static_cast<double>(value) - 0.5) * (static_cast<double>(value) - 0.5);
        CHECK(row::sum(x) == Approx(sum).epsilon(1e-13).margin(1e-12));
        CHECK(row::squares(x, 0.5) == Approx(squares).epsilon(1e-13));
    }
}

TEST_CASE("activations are the nearest floats to their formulas") {
    std::vector<float> x = spread(20'000, 4.0);
    for (const float special : {0.0F, 1e-30F, -1e-30F, 30.0F, -30.0F, 100.0F, -100.0F, 1e20F, -1e20F})
        x.push_back(special);
    const auto check = [&](ActivationKind kind, void (*rows)(row::In, row::Out)) {
        ByTheBook book(kind);
        std::vector<float> y(x.size());
        rows(x, y);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = book.value(static_cast<double>(x[i]));
            // Far to the left 1 + erf and 1 + tanh lose their digits, even in double.
            const double near = 2e-7 * std::abs(exact) + 1e-14 * std::abs(static_cast<double>(x[i]));
            if (!(std::abs(static_cast<double>(y[i]) - exact) <= near))
                FAIL("of " << x[i] << ": " << y[i] << ", not " << exact);
        }
        std::vector<float> nan = {kNan};
        rows(nan, nan);
        CHECK(std::isnan(nan[0]));
    };
    check(ActivationKind::relu, row::relu);
    check(ActivationKind::gelu, row::gelu);
    check(ActivationKind::gelu_tanh, row::gelu_tanh);
    check(ActivationKind::silu, row::silu);
}

TEST_CASE("an activation passes back its slope times the gradient") {
    std::vector<float> x = spread(20'000, 4.0);
    for (const float special : {0.0F, 1e-30F, -1e-30F, 30.0F, -30.0F, 100.0F, -100.0F, 1e30F, -1e30F})
        x.push_back(special);
    const std::vector<float> grad(x.size(), 3.0F);
    const auto check = [&](ActivationKind kind, void (*back)(row::In, row::In, row::Out)) {
        ByTheBook book(kind);
        std::vector<float> y(x.size());
        back(x, grad, y);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = 3.0 * book.slope(std::clamp(static_cast<double>(x[i]), -40.0, 40.0));
            if (!(std::abs(static_cast<double>(y[i]) - exact) <= 2e-7 * std::abs(exact) + 1e-12))
                FAIL("of " << x[i] << ": " << y[i] << ", not " << exact);
        }
        std::vector<float> nan = {kNan};
        back(nan, std::vector<float>{1.0F}, nan);
        CHECK(std::isnan(nan[0]));
    };
    check(ActivationKind::gelu, row::gelu_back);
    check(ActivationKind::gelu_tanh, row::gelu_tanh_back);
    check(ActivationKind::silu, row::silu_back);
}

TEST_CASE("the logarithm of a sum of exponentials, and each one's share of it") {
    for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 500U}) {
        std::vector<float> x = spread(n, 30.0);
        const double top = static_cast<double>(*std::ranges::max_element(x));
        double sum = 0.0;
        for (const float value : x) sum += std::exp(static_cast<double>(value) - top);
        const double total = row::log_sum_exp(x);
        CHECK(std::abs(total - (top + std::log(sum))) <= 1e-10);
        std::vector<float> shares(n), all(n);
        row::exponentials(x, total, 2.0, shares);
        row::softmax(x, n, all);
        for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(shares[i] - 2.0F * all[i]) <= 1e-6F);
    }
    CHECK(std::isnan(row::log_sum_exp(std::vector<float>{1.0F, kNan})));
    CHECK(std::isnan(row::log_sum_exp(std::vector<float>{-kInfinity, -kInfinity})));
}

// What PyTorch gives for −∞, ∞ and NaN, and its slopes there. A product of ∞ with a share of 0 is NaN: silu(−∞) is
// −∞ / (1 + exp(∞)), gelu(−∞) is −∞ · ½ (1 + erf(−∞)).
TEST_CASE("activations and their slopes at the infinities and NaN are PyTorch's") {
    struct Expected {
        ActivationKind kind;
        void (*rows)(row::In, row::Out);
        void (*back)(row::In, row::In, row::Out);
        std::vector<float> values, slopes;
    };
    const std::vector<Expected> all = {
        {ActivationKind::relu, row::relu, row::relu_back, {0.0F, kInfinity, kNan}, {0.0F, 1.0F, 1.0F}},
        {ActivationKind::gelu, row::gelu, row::gelu_back, {kNan, kInfinity, kNan}, {kNan, kNan, kNan}},
        {ActivationKind::gelu_tanh, row::gelu_tanh, row::gelu_tanh_back, {kNan, kInfinity, kNan}, {kNan, kNan, kNan}},
        {ActivationKind::silu, row::silu, row::silu_back, {kNan, kInfinity, kNan}, {kNan, kNan, kNan}}};
    const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    for (const Expected& expected : all) {
        // A whole vector of them and a few more: the compiler has two loops.
        std::vector<float> x, values(21), slopes(21);
        for (int i = 0; i < 21; ++i)
            x.push_back(std::array{-kInfinity, kInfinity, kNan}[static_cast<std::size_t>(i) % 3]);
        ByTheBook book(expected.kind);
        expected.rows(x, values);
        expected.back(x, std::vector<float>(x.size(), 1.0F), slopes);
        for (std::size_t i = 0; i < x.size(); ++i) {
            INFO(expected.kind.name << " of " << x[i] << ": " << values[i] << ", slope " << slopes[i]);
            CHECK(same(values[i], expected.values[i % 3]));
            CHECK(same(slopes[i], expected.slopes[i % 3]));
            // What the explanation shows.
            CHECK(same(static_cast<float>(book.value(static_cast<double>(x[i]))), expected.values[i % 3]));
        }
    }
}

TEST_CASE("other elementwise functions at the infinities and NaN are PyTorch's") {
    const auto tensor = [](std::vector<float> values) {
        Tensor made({{axis::batch, 1}, {axis::pos, 1}, {axis::d_ff, static_cast<Index>(values.size())}});
        std::ranges::copy(values, made.writable().begin());
        return made;
    };
    const auto check = [&](const Operation& operation, const std::vector<std::vector<float>>& in,
                           const std::vector<float>& expected) {
        std::vector<Tensor> tensors;
        for (const std::vector<float>& values : in) tensors.push_back(tensor(values));
        Operands operands;
        for (const Tensor& one : tensors) operands.add(one);
        const Tensor out = operation.compute(operands, tensors[0].axes());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const float found = out.values()[i];
            INFO(operation.about().formula << " at " << in[0][i] << ": " << found << ", not " << expected[i]);
            CHECK((found == expected[i] || (std::isnan(found) && std::isnan(expected[i]))));
            const Explanation explained = operation.explain(operands, out, out.cell(static_cast<Index>(i)));
            const auto told = static_cast<float>(explained.lines.back().value);
            INFO("explained as " << told);
            CHECK((told == expected[i] || (std::isnan(told) && std::isnan(expected[i]))));
        }
    };
    const std::vector<float> x = {-kInfinity, kInfinity, kNan}, ones = {1.0F, 1.0F, 1.0F}, zeros = {0.0F, 0.0F, 0.0F};
    check(SoftCap{30.0}, {x}, {-30.0F, 30.0F, kNan});
    check(Sigmoid{}, {x}, {0.0F, 1.0F, kNan});
    check(Activate{{"relu2"}}, {x}, {0.0F, kInfinity, kNan});
    check(Activate{{"mish"}}, {x}, {kNan, kInfinity, kNan});
    const auto quick = [](double at) { return static_cast<float>(at / (1.0 + std::exp(-1.702 * at))); };
    check(Activate{{"quick_gelu"}}, {{-3.0F, 0.5F, 2.0F}}, {quick(-3.0), quick(0.5), quick(2.0)});
    check(ActivateGated{ActivationKind::silu}, {ones, x}, {kNan, kInfinity, kNan});
    check(ActivateGated{ActivationKind::gelu}, {ones, x}, {kNan, kInfinity, kNan});
    check(ActivateGated{ActivationKind::relu}, {x, zeros}, {kNan, kNan, kNan});
    const auto held = static_cast<float>(7.0 / (1.0 + std::exp(-1.702 * 7.0)));
    check(ClampedSwiglu{}, {zeros, x}, {kNan, held, kNan});
    check(ClampedSwiglu{}, {x, zeros}, {0.0F, 0.0F, kNan});
    check(Add{}, {x, {kInfinity, kInfinity, kInfinity}}, {kNan, kInfinity, kNan});
    check(Drop{}, {x, zeros}, {kNan, kNan, kNan});
}
