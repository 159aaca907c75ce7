// A run that is computed step by step, as in a build without threads.
#include "tests/catch.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <atomic>
#include <stop_token>

using namespace decoderscope::testing;

TEST_CASE("a plan is computed a step at a time, with the same numbers") {
    const SmallModel model = small_model({{"num_layers", "2"}}, {.batch = 2, .pos = 4});
    const auto plan = model.plan();
    std::atomic<std::size_t> done = 0;
    Execution execution(plan, {.done = &done});
    for (std::size_t step = 1; step < plan->steps().size(); ++step) {
        REQUIRE_FALSE(execution.advance());
        CHECK(done == step);
    }
    REQUIRE(execution.advance());
    CHECK(done == plan->steps().size());
    CHECK(execution.advance());  // and nothing more is done
    CHECK(done == plan->steps().size());
    CHECK(first_difference(*execution.run(), *model.run()) == "");
}

TEST_CASE("the step shown early runs between two steps, with its operands and nothing else") {
    const SmallModel model = small_model({{"num_layers", "2"}}, {.batch = 2, .pos = 4});
    const std::vector<std::string> looked_at = {"blocks.0.attn.pattern"};
    std::shared_ptr<const Run> early;
    Execution execution(model.plan(), {.looked_at = looked_at, .early = [&](auto run) { early = std::move(run); }});
    while (!early) REQUIRE_FALSE(execution.advance());
    CHECK_FALSE(early->value("blocks.0.attn.pattern").empty());
    CHECK(early->value("blocks.0.attn.z").empty());
    while (!execution.advance()) {
    }
    CHECK(first_difference(*execution.run(), *model.run()) == "");
}

TEST_CASE("a plan that is stopped between two steps has no run") {
    const SmallModel model = small_model({{"num_layers", "2"}}, {.batch = 2, .pos = 4});
    std::stop_source stop;
    Execution execution(model.plan(), {.stop = stop.get_token()});
    for (int step = 0; step < 5; ++step) REQUIRE_FALSE(execution.advance());
    stop.request_stop();
    CHECK(execution.advance());
    CHECK(execution.run() == nullptr);
}
