// What a plan refuses.
#include "engine/graph/plan.h"
#include "engine/ops/elementwise.h"
#include "tests/catch.h"

#include <stdexcept>

using namespace decoderscope::testing;

TEST_CASE("a step without one of its operands is refused, unless it may lack it") {
    Plan plan(nullptr);
    const Tensor x({{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, 2}}, {1.0F, 2.0F});
    const Ref read = plan.input("x", x);
    CHECK_THROWS_AS(plan.step("lost", ops::Add{}, {read, nullptr}), std::logic_error);
    CHECK(plan.step("alone", ops::Add{}, {read, OptionalRef{}})->operands.size() == 1);
    CHECK(plan.step("both", ops::Add{}, {read, OptionalRef{read}})->operands.size() == 2);
}
