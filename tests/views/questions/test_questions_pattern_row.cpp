// Of a row of a pattern: how sharp it is, by how much more than the row above, between which two keys it hesitates, and
// how much of its output comes from a key's value. Two gestures each from the default screen, or one.
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "tests/catch.h"
#include "tests/views/questions/learner.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

const std::string kAttention = "blocks.1.cross_attn";

double bits(const Learner& learner, Index query) {
    double sum = 0.0;
    for (Index key = 0; key < 12; ++key) {
        const double weight = static_cast<double>(learner.value(kAttention + ".pattern", {0, 3, query, key}));
        if (weight > 0.0) sum -= weight * std::log(weight) / std::log(2.0);
    }
    return sum;
}

std::string said_in(double number) { return short_number_text(number, 3); }

}  // namespace

TEST_CASE("question 25: how sharp is this row, and by how much more than the row above?") {
    Learner learner;
    learner.click_cell(kAttention + ".pattern", 4, 3);
    const double here = bits(learner, 4), above = bits(learner, 3);
    CHECK(learner.reads("entropy " + said_in(here) + " bits, " + said_in(std::abs(here - above)) +
                        (here > above ? " more than above." : " less than above.")));
    CHECK(learner.gestures == 1);
}

TEST_CASE("question 26: which two tokens does this head confuse most at this position?") {
    Learner learner;
    learner.click_cell(kAttention + ".pattern", 4, 3);
    std::vector<std::pair<double, Index>> weights;
    for (Index key = 0; key < 12; ++key)
        weights.emplace_back(static_cast<double>(learner.value(kAttention + ".pattern", {0, 3, 4, key})), key);
    std::ranges::sort(weights, std::greater<>());
    CHECK(learner.reads("Largest: key " + std::to_string(weights[0].second)));
    CHECK(learner.reads("; " + said_in(weights[0].first - weights[1].first) + " apart."));
    CHECK(learner.gestures == 1);
}

TEST_CASE("question 27: what share of this position's output comes from a token's value, in length?") {
    Learner learner;
    learner.click_cell(kAttention + ".pattern", 4, 3);
    std::vector<double> shares;
    double length = 0.0, sum = 0.0;
    for (Index key = 0; key < 12; ++key) {
        double along = 0.0, squares = 0.0, whole = 0.0;
        for (Index i = 0; i < learner.run().value(kAttention + ".v").dim(3); ++i) {
            const double term = static_cast<double>(learner.value(kAttention + ".pattern", {0, 3, 4, key})) *
                                static_cast<double>(learner.value(kAttention + ".v", {0, 3, key, i}));
            const double z = static_cast<double>(learner.value(kAttention + ".z", {0, 3, 4, i}));
            along += term * z;
            squares += term * term;
            whole += z * z;
        }
        shares.push_back(along / whole);
        sum += along / whole;
        if (key == 3) length = std::sqrt(squares);
    }
    CHECK(std::abs(sum - 1.0) < 1e-4);
    CHECK(learner.reads(said_in(shares[3] * 100.0) + " % of z (length " + said_in(length)));
    // From a cell of z, the keys that make most of it.
    learner.press(Key::right);
    REQUIRE(learner.d.session.step().name == kAttention + ".z");
    learner.click_cell(kAttention + ".z", 4, 0);
    const auto most = std::ranges::max_element(shares, {}, [](double share) { return std::abs(share); });
    CHECK(learner.reads("key " + std::to_string(most - shares.begin()) + " “"));
    CHECK(learner.reads(said_in(*most * 100.0) + " % of z"));
}
