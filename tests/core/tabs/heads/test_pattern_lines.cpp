// Which weights are drawn as lines, and which tokens have labels.
#include "app/core/tabs/heads/shown_heads.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::heads;
using namespace decoderscope::core;

namespace {

// Each query gives most of its weight to the keys near to it: row i ~ exp(−|i − j| · slope).
Heatmap pattern_of(Index tokens, float slope) {
    Heatmap h;
    h.rows = h.columns = tokens;
    for (Index query = 0; query < tokens; ++query) {
        float sum = 0.0F;
        for (Index key = 0; key < tokens; ++key) sum += std::exp(-slope * std::abs(static_cast<float>(query - key)));
        for (Index key = 0; key < tokens; ++key)
            h.values.push_back(std::exp(-slope * std::abs(static_cast<float>(query - key))) / sum);
    }
    return h;
}

std::ptrdiff_t drawn(const Heatmap& h) {
    const PatternLines lines = pattern_lines(h);
    return std::ranges::count_if(h.values, [&](float weight) { return weight > lines.least; });
}

}  // namespace

TEST_CASE("a short pattern draws every weight from 0.02 up") {
    Heatmap h = pattern_of(12, 0.0F);
    h.values = std::vector<float>(144, 0.044F);
    h.values[0] = 0.9F;
    h.values[1] = 0.019F;
    CHECK(pattern_lines(h).least == 0.02F);
    CHECK(pattern_lines(h).largest == 0.9F);
    CHECK(pattern_lines(h).leaves_out);
    CHECK(drawn(h) == 143);
}

TEST_CASE("the least weight of a long pattern follows its length: about four lines a token") {
    const Heatmap h = pattern_of(128, 0.05F);
    const auto above = std::ranges::count_if(h.values, [](float weight) { return weight > 0.02F; });
    REQUIRE(above > 1000);  // a block of one colour
    CHECK(drawn(h) > 128);
    CHECK(drawn(h) <= 512);
    CHECK(pattern_lines(h).leaves_out);
    CHECK(drawn(pattern_of(128, 0.0F)) == 0);  // all alike: none stands out
    CHECK(drawn(pattern_of(20, 0.0F)) == 400);
}

TEST_CASE("lines found while rows go by are those of the whole pattern, the largest last") {
    const Index tokens = GENERATE(3, 60, 500);
    Heatmap h;
    h.rows = h.columns = tokens;
    for (Index i = 0; i < tokens * tokens; ++i)  // many are alike
        h.values.push_back(static_cast<float>(i * i % 1009 % 301) / 300.0F);
    h.values[static_cast<std::size_t>(tokens)] = std::nanf("");
    const PatternLines lines = pattern_lines(h);
    CHECK(lines.broken[1]);
    CHECK(std::ranges::count(lines.broken, true) == 1);
    CHECK(std::ssize(lines.lines) == drawn(h));
    CHECK(std::ranges::is_sorted(lines.lines, {}, &PatternLines::Line::weight));
    for (const auto& [query, key, weight] : lines.lines) CHECK(h.at(query, key) == weight);
    // Of those that are left out, as many are larger as are drawn, or it is too small to be seen.
    std::vector<float> sorted = h.values;
    std::erase_if(sorted, [](float weight) { return !(weight > 0.0F); });
    std::ranges::sort(sorted, std::greater<>());
    const auto most = static_cast<std::size_t>(std::max<Index>(400, 4 * tokens));
    CHECK(lines.least == std::max(0.02F, sorted.size() > most ? sorted[most] : 0.0F));
}

TEST_CASE("where labels crowd, those of the largest weights stay") {
    const std::vector<float> at = {0, 5, 10, 15, 20, 25};
    CHECK(labels_with_room(at, {0, 0, 0, 0.044F, 0, 0}, 9.0F) ==
          std::vector<bool>{true, false, false, true, false, true});
    CHECK(labels_with_room(at, {0, 0, 0, 0, 0, 0}, 9.0F) == std::vector<bool>{true, false, true, false, true, false});
    CHECK(labels_with_room(at, {0, 0, 0, 0, 0, 0}, 5.0F) == std::vector<bool>(6, true));
}
