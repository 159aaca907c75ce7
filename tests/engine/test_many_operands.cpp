// Operations of any number of operands: a sum of six tensors, some of which lack the batch's axis.
#include "engine/graph/plan.h"
#include "engine/graph/run.h"
#include "engine/ops/elementwise.h"
#include "tests/catch.h"
#include "tests/engine/same_bits.h"

#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::ops;

namespace {

constexpr Index kBatch = 2, kPos = 3, kWidth = 5, kOperands = 6;

// The number at a cell of an operand: small integers, so that every sum is exact.
float number(Index operand, Index batch, Index pos, Index d) {
    return static_cast<float>((operand + 1) * 100 + batch * 40 + pos * 7 + d);
}

// Whether an operand counts for every row of the batch: the third and the sixth.
bool lacks_batch(Index operand) { return operand % 3 == 2; }

Tensor operand_tensor(Index operand, float more_in_last_row) {
    Axes axes = {{axis::pos, kPos}, {axis::d_model, kWidth}};
    if (!lacks_batch(operand)) axes = {{axis::batch, kBatch}, {axis::pos, kPos}, {axis::d_model, kWidth}};
    Tensor tensor(axes);
    float* to = tensor.writable().data();
    for (Index b = 0; b < (lacks_batch(operand) ? 1 : kBatch); ++b)
        for (Index p = 0; p < kPos; ++p)
            for (Index d = 0; d < kWidth; ++d)
                *to++ = number(operand, b, p, d) + (p == kPos - 1 ? more_in_last_row : 0.0F);
    return tensor;
}

// x0 + … + x5; in the last operand the last row is larger by this much.
std::shared_ptr<const Plan> sum_plan(float more) {
    auto plan = std::make_shared<Plan>(nullptr);
    std::vector<Ref> in;
    for (Index i = 0; i < kOperands; ++i)
        in.push_back(plan->input("x" + std::to_string(i), operand_tensor(i, i == kOperands - 1 ? more : 0.0F)));
    plan->step("sum", Add{}, {in[0], in[1], in[2], in[3], in[4], in[5]});
    return plan;
}

float expected(Index batch, Index pos, Index d) {
    float sum = 0.0F;
    for (Index i = 0; i < kOperands; ++i) sum += number(i, lacks_batch(i) ? 0 : batch, pos, d);
    return sum;
}

}  // namespace

TEST_CASE("a sum of six tensors adds each of them once, and the shorter ones to every row of the batch") {
    const auto run = execute(sum_plan(0.0F));
    const Tensor& sum = run->value("sum");
    REQUIRE(shape_text(sum.axes()) == "[2, 3, 5]");
    for (Index i = 0; i < sum.size(); ++i) {
        const Cell cell = sum.cell(i);
        CHECK(sum.data()[i] == expected(cell[0], cell[1], cell[2]));
    }
}

TEST_CASE("the explanation of a sum has a term for each operand, with a link to the cell that was added") {
    const auto run = execute(sum_plan(0.0F));
    const Step& step = *run->plan().find("sum");
    const auto lines = run->explain(step.id, {1, 2, 3}).lines;
    REQUIRE(lines.size() == 1);
    REQUIRE(lines[0].terms.size() == kOperands);
    CHECK(lines[0].value == static_cast<double>(expected(1, 2, 3)));
    for (std::size_t i = 0; i < lines[0].terms.size(); ++i) {
        const Factor& factor = lines[0].terms[i].factors.at(0);
        REQUIRE(factor.cell);
        CHECK(factor.cell->operand == i);
        CHECK(factor.cell->cell == (lacks_batch(static_cast<Index>(i)) ? Cell{2, 3} : Cell{1, 2, 3}));
    }
}

TEST_CASE("a change in the last row of the sixth operand computes that row alone, to the same bits") {
    const auto before = execute(sum_plan(0.0F));
    const auto after = execute(sum_plan(0.5F), {.previous = before.get()}), afresh = execute(sum_plan(0.5F));
    CHECK_FALSE(after->value("sum").is_ready());  // the rows before are those of the earlier run
    CHECK(same_bits(after->value("sum"), afresh->value("sum")));
    CHECK_FALSE(same_bits(after->value("sum"), before->value("sum")));
    const Tensor& sum = after->value("sum");
    CHECK(sum.at(Cell{1, 2, 0}) == expected(1, 2, 0) + 0.5F);
    CHECK(sum.at(Cell{1, 1, 0}) == expected(1, 1, 0));
}
