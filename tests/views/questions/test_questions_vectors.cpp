// Questions 9, 13, 18 and 22: what does a head, the MLP, the position add; what are q, k and v of this token?
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"
#include "tests/views/questions/learner.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

using Row = std::vector<double>;

// A row of the run, read from its tensor.
Row row_of(const Learner& learner, const std::string& tensor, Cell first) {
    const Tensor& values = learner.run().value(tensor);
    first.push_back(0);
    const auto row = values.values().subspan(static_cast<std::size_t>(values.offset(first)),
                                             static_cast<std::size_t>(values.axes().back().size));
    return {row.begin(), row.end()};
}

double dot(const Row& a, const Row& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

std::string number(double value) { return as_seen(short_number_text(value, 3)); }
std::string length(const Row& row) { return number(std::sqrt(dot(row, row))); }
std::string cosine(const Row& a, const Row& b) {
    return number(dot(a, b) / std::sqrt(dot(a, a)) / std::sqrt(dot(b, b)));
}

std::string largest_component(const Row& row) {
    const auto largest = std::ranges::max_element(row, {}, [](double value) { return std::abs(value); });
    return std::to_string(largest - row.begin()) + ":" + number(*largest);
}

// What a row adds to a token's logit by the final norm with the scale that was recorded, and the head.
double adds(const Learner& learner, const Row& row, Index pos, Index token) {
    double mean = 0.0, sum = 0.0;
    for (const double value : row) mean += value / static_cast<double>(row.size());
    const Row toward = row_of(learner, "lm_head.weight", {token});
    for (std::size_t d = 0; d < row.size(); ++d)
        sum += (row[d] - mean) * static_cast<double>(learner.value("norm.weight", {static_cast<Index>(d)})) * toward[d];
    return sum / static_cast<double>(learner.value("ln_final.scale", {0, pos, 0}));
}

Index predicted(const Learner& learner, Index pos) {
    const Row logits = row_of(learner, "logits", {0, pos});
    return std::ranges::max_element(logits) - logits.begin();
}

std::string token_text(const Learner& learner, Index token) {
    return "“" + printable(learner.d.session.shown().scenario.tokenizer().piece(token)) + "”";
}

// Whether the inspector says all there is about a row that is added to the stream.
void check_glance(Learner& learner, const Row& row, const Row& stream, Index pos) {
    const Index token = predicted(learner, pos);
    CHECK(learner.reads("Length " + length(row)));
    CHECK(learner.reads(cosine(row, stream)));
    CHECK(learner.reads("predicted " + token_text(learner, token) + ": " +
                        cosine(row, row_of(learner, "lm_head.weight", {token}))));
    CHECK(learner.reads("Largest components " + largest_component(row)));
    CHECK(learner.reads("Adds " + number(adds(learner, row, pos, token)) + " to the logit of " +
                        token_text(learner, token)));
    // The token that it moves up most.
    Index up = 0;
    for (Index other = 1; other < learner.run().value("lm_head.weight").dim(0); ++other)
        if (adds(learner, row, pos, other) > adds(learner, row, pos, up)) up = other;
    CHECK(learner.reads("Raises " + token_text(learner, up) + " " + number(adds(learner, row, pos, up))));
}

}  // namespace

TEST_CASE("question 9: what does head 3 contribute to the residual stream here?") {
    Learner learner;
    learner.click_on_strip("blocks.1.cross_attn.result");
    learner.click_cell("blocks.1.cross_attn.result", 2, 10);
    CHECK(learner.gestures <= 3);
    check_glance(learner, row_of(learner, "blocks.1.cross_attn.result", {0, 3, 2}),
                 row_of(learner, "blocks.1.resid_mid", {0, 2}), 2);
}

TEST_CASE("question 13: what are q, k and v of this token in this head?") {
    Learner learner;
    learner.click_on_strip("blocks.1.attn.pattern");
    learner.click_on_strip("blocks.1.attn.q");
    learner.click_cell("blocks.1.attn.q", 2, 5);
    CHECK(learner.gestures <= 3);
    const Index head = learner.d.session.cursor().place.head;
    for (const char* name : {"q", "k", "v"}) {
        const std::string tensor = std::string("blocks.1.attn.") + name;
        const Row row = row_of(learner, tensor, {0, head, 2});
        CHECK(learner.reads(tensor + " Length " + length(row) + " Largest components " + largest_component(row)));
    }
}

TEST_CASE("question 18: what does the MLP add here?") {
    Learner learner;
    learner.click_on_strip("blocks.1.mlp_out");
    learner.click_cell("blocks.1.mlp_out", 2, 10);
    CHECK(learner.gestures <= 3);
    check_glance(learner, row_of(learner, "blocks.1.mlp_out", {0, 2}),
                 row_of(learner, "blocks.1.resid_mid_cross", {0, 2}), 2);
}

TEST_CASE("question 22: what does the positional encoding add at position 5?") {
    Learner learner;
    learner.click_on_strip("pos_embed");
    learner.click_cell("pos_embed", 5, 10);
    CHECK(learner.gestures <= 3);
    check_glance(learner, row_of(learner, "pos_embed", {5}), row_of(learner, "embed", {0, 5}), 5);
}

TEST_CASE("without a cell, a table has all rows, and a click on one asks about it") {
    Learner learner;
    learner.d.session.apply(command::GoTo{"blocks.1.mlp_out"});
    learner.d.settle();
    for (Index pos = 0; pos < learner.run().value("blocks.1.mlp_out").dim(1); ++pos)
        CHECK(learner.reads(length(row_of(learner, "blocks.1.mlp_out", {0, pos}))));
}
