// What theirs are to ours, under a stranger's names: a GPT that PyTorch recorded, with one tensor as it goes wrong
// between two programs. All else in the recording is right, so that the tensor alone tells.
#include "app/core/tabs/bisect/bisection.h"
#include "engine/trace/trace.h"
#include "tests/catch.h"
#include "tests/core/tabs/bisect/recorded_ways.h"
#include "tests/engine/contains.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;

namespace {

using Numbers = std::vector<float>;
using Change = std::function<Numbers(const Numbers& ours, const std::vector<Index>& shape)>;

trace::TraceTensor& tensor_in(trace::Trace& trace, const std::string& name, bool parameter = false) {
    std::vector<trace::TraceTensor>& all = parameter ? trace.parameters : trace.tensors;
    const auto found = std::ranges::find(all, name, &trace::TraceTensor::name);
    REQUIRE(found != all.end());
    return *found;
}

Numbers values_of(const trace::TraceTensor& tensor) {
    return {tensor.values.values().begin(), tensor.values.values().end()};
}

// The tensor with its slices along the last axis but `from_last` in another order.
Change in_order(std::size_t from_last, std::vector<Index> order) {
    return [from_last, order](const Numbers& ours, const std::vector<Index>& shape) {
        const std::size_t axis = shape.size() - 1 - from_last;
        Index inner = 1;
        for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
        Numbers theirs = ours;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            const auto at = static_cast<Index>(i);
            const Index place = at / inner % shape[axis];
            theirs[i] = ours[static_cast<std::size_t>(at + (order[static_cast<std::size_t>(place)] - place) * inner)];
        }
        return theirs;
    };
}

Change times(std::function<float(std::size_t row)> factor) {
    return [factor](const Numbers& ours, const std::vector<Index>& shape) {
        Numbers theirs = ours;
        for (std::size_t i = 0; i < ours.size(); ++i) theirs[i] *= factor(i / static_cast<std::size_t>(shape.back()));
        return theirs;
    };
}

Numbers transposed(const Numbers& ours, const std::vector<Index>& shape) {
    const Index rows = shape[shape.size() - 2], columns = shape.back();
    Numbers theirs = ours;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const auto at = static_cast<Index>(i);
        const Index matrix = at / (rows * columns), row = at / columns % rows, column = at % columns;
        theirs[i] = ours[static_cast<std::size_t>(matrix * rows * columns + column * rows + row)];
    }
    return theirs;
}

// What bisect says of the recording with this tensor changed: the relation or, if there is one, the cause.
std::string relation_with(const std::string& name, const Change& change) {
    trace::Trace trace = trace::open_trace(kTraces + "gpt/right-apart.safetensors");
    trace::TraceTensor& tensor = tensor_in(trace, name);
    const Numbers theirs = change(values_of(tensor), tensor.shape);
    std::ranges::copy(theirs, tensor.values.writable().begin());
    const Bisection found = core::bisect::bisect(scenario_for("gpt", trace), trace);
    REQUIRE(found.first);
    CHECK(found.checks[*found.first].theirs == name);
    return found.causes.empty() || !found.causes.front().explains ? found.relation.english()
                                                                  : found.causes.front().sentence.english();
}

}  // namespace

TEST_CASE("each relation between two programs' tensors is found under the other one's names", "[long]") {
    struct Case {
        std::string tensor;
        Change change;
        std::string relation;
    };
    const std::vector<Case> cases = {
        {"h.1.mlp.c_fc/out", times([](std::size_t) { return 1.01F; }), "theirs are ours times 1.01"},
        {"h.0.mlp.c_proj/out", times([](std::size_t row) { return 1.0F + 0.03F * static_cast<float>(row % 5); }),
         "theirs are ours times one factor for each row, from 1 to 1.12"},
        {"h.1.attn.c_proj/out", times([](std::size_t) { return -1.0F; }), "by −1"},
        {"h.0.attn/softmax/out", transposed, "theirs are transposed"},
        {"h.1.ln_2/out", in_order(1, {1, 2, 3, 4, 4}), "theirs are ours of the next place along pos"},
        {"h.0.attn.c_proj/out", in_order(1, {0, 3, 1, 2, 4}),
         "theirs are ours in another order along pos: 0, 3, 1, 2, 4"},
        {"h.1.attn/matmul#2/out", in_order(2, {1, 0}), "theirs are ours in another order along head: 1, 0"},
        {"h.1.mlp.c_fc/out", in_order(0, {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}),
         "with the two halves interleaved in pairs"},
        {"h.0.mlp.c_fc/out", in_order(0, {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}),
         "with the pairs taken apart into two halves"},
    };
    for (const Case& one : cases) {
        INFO(one.tensor << ": " << one.relation);
        CHECK_THAT(relation_with(one.tensor, one.change), Catch::Matchers::ContainsSubstring(one.relation));
    }
}

// W = [W₁ W₂], so that W x = W₁ x₁ + W₂ x₂: before they are summed up, each of two devices has one of the terms.
TEST_CASE("the sum on one of two devices is found under the other program's names") {
    trace::Trace trace = trace::open_trace(kTraces + "gpt/right-apart.safetensors");
    const Numbers input = values_of(tensor_in(trace, "h.0.mlp.c_proj/in.input")),
                  weight = values_of(tensor_in(trace, "h.0.mlp.c_proj.weight", true)),
                  bias = values_of(tensor_in(trace, "h.0.mlp.c_proj.bias", true));
    const Change second_half = [&](const Numbers& ours, const std::vector<Index>& shape) {
        const auto out = static_cast<std::size_t>(shape.back()), in = weight.size() / out;
        Numbers theirs = ours;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            theirs[i] = bias[i % out];
            for (std::size_t k = in / 2; k < in; ++k) theirs[i] += weight[i % out * in + k] * input[i / out * in + k];
        }
        return theirs;
    };
    CHECK_THAT(relation_with("h.0.mlp.c_proj/out", second_half),
               Catch::Matchers::ContainsSubstring("theirs are the sum over part 2 of 2"));
}
