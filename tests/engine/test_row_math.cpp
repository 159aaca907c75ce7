// Row operations in vector instructions, against the C++ library's functions one number at a time.
#include "engine/ops/activation.h"
#include "engine/random.h"
#include "engine/row_math.h"
#include "tests/catch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace decoderscope;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> spread(std::size_t count, double width) {
    const RandomStream random(3, "row");
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(width * random.normal(i)));
    return values;
}

// How many floats lie between two, 0 where they are the same.
std::int64_t steps_between(float a, float b) {
    const auto place = [](float x) {
        const auto bits = std::bit_cast<std::int32_t>(x);
        return static_cast<std::int64_t>(bits < 0 ? std::numeric_limits<std::int32_t>::min() - bits : bits);
    };
    return std::abs(place(a) - place(b));
}

}  // namespace

TEST_CASE("exponentials are the nearest floats, and a masked score's is 0") {
    std::vector<float> x;
    for (int i = 0; i <= 60'000; ++i) x.push_back(static_cast<float>(-105.0 + i * 0.00175));
    std::vector<float> y(x.size());
    const double sum = row::exponentials(x, 0.0F, y);
    double expected_sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto nearest = static_cast<float>(std::exp(static_cast<double>(x[i])));
        expected_sum += static_cast<double>(nearest);
        if (steps_between(y[i], nearest) > 1) FAIL("exp(" << x[i] << ") is " << y[i] << ", not " << nearest);
    }
    CHECK(sum == Approx(expected_sum).epsilon(1e-12));

    std::vector<float> edge = {-kInfinity, -1e30F, 0.0F, kNaN, -kInfinity};
    (void)row::exponentials(edge, 0.0F, edge);
    CHECK(edge[0] == 0.0F);
    CHECK(edge[1] == 0.0F);
    CHECK(edge[2] == 1.0F);
    CHECK(std::isnan(edge[3]));
    CHECK(edge[4] == 0.0F);
}

TEST_CASE("sums, squares and maxima of rows of any length") {
    for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 31U, 100U, 768U}) {
        const std::vector<float> x = spread(n, 10.0);
        double sum = 0.0, squares = 0.0;
        for (const float value : x) sum += static_cast<double>(value);
        for (const float value : x) squares += (static_cast<double>(value) - 0.5) * (static_cast<double>(value) - 0.5);
        CHECK(row::sum(x) == Approx(sum).epsilon(1e-13).margin(1e-12));
        CHECK(row::squares(x, 0.5) == Approx(squares).epsilon(1e-13));
        CHECK(row::highest(x) == *std::max_element(x.begin(), x.end()));
    }
    CHECK(row::highest(std::vector<float>(20, -kInfinity)) == -kInfinity);
}

TEST_CASE("activations are the nearest floats to their formulas") {
    std::vector<float> x = spread(20'000, 4.0);
    for (const float special : {0.0F, 1e-30F, -1e-30F, 30.0F, -30.0F, 100.0F, -100.0F, 1e20F, -1e20F})
        x.push_back(special);
    const auto check = [&](ActivationKind kind, void (*rows)(row::In, row::Out)) {
        std::vector<float> y(x.size());
        rows(x, y);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = activate(kind, static_cast<double>(x[i]));
            // Far out on the left 1 + erf and 1 + tanh have lost their digits, in double too.
            const double near = 2e-7 * std::abs(exact) + 1e-14 * std::abs(static_cast<double>(x[i]));
            if (!(std::abs(static_cast<double>(y[i]) - exact) <= near))
                FAIL("of " << x[i] << ": " << y[i] << ", not " << exact);
        }
        std::vector<float> nan = {kNaN};
        rows(nan, nan);
        CHECK(std::isnan(nan[0]));
    };
    check(ActivationKind::relu, row::relu);
    check(ActivationKind::gelu, row::gelu);
    check(ActivationKind::gelu_tanh, row::gelu_tanh);
    check(ActivationKind::silu, row::silu);
}
