// What the worker shows before everything is computed.
#include "app/core/run/scenario.h"
#include "app/core/session/computed.h"
#include "engine/load/model.h"
#include "tests/catch.h"

#include <mutex>
#include <thread>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace std::chrono_literals;

namespace {

// A worker, and what it showed early.
struct Watched {
    std::vector<std::shared_ptr<const Run>> early;
    std::unique_ptr<Worker> worker;

    Watched() {
        worker = std::make_unique<Worker>([this] {
            if (auto run = worker->collect_early()) early.push_back(std::move(run));
        });
    }

    // Waits until the worker is at rest.
    Worker::Result finish() {
        while (worker->busy()) worker->wait(10ms);
        const auto result = worker->collect();
        REQUIRE(result);
        REQUIRE(result->run);
        return *result;
    }
};

std::shared_ptr<const Plan> plan_of_default_model() { return plan_of(scenario_of(load_model("reverse"))); }

}  // namespace

TEST_CASE("the shown step appears before the run is complete, with its final numbers") {
    Watched watched;
    watched.worker->start({.main = {plan_of_default_model(), nullptr}, .looked_at = {"blocks.0.attn.pattern"}});
    const Worker::Result result = watched.finish();
    REQUIRE(watched.early.size() == 1);
    const Run& early = *watched.early.front();
    CHECK(early.value("blocks.0.attn.pattern").shares_values_with(result.run->value("blocks.0.attn.pattern")));
    CHECK_FALSE(early.value("blocks.0.attn.masked_scores").empty());
    CHECK(early.value("logits").empty());
    CHECK_FALSE(result.run->value("logits").empty());
}

TEST_CASE("nothing is shown early if no step is on the stage, or once the run is complete") {
    Watched watched;
    watched.worker->start({.main = {plan_of_default_model(), nullptr}});
    (void)watched.finish();
    CHECK(watched.early.empty());

    Worker worker({});
    worker.start({.main = {plan_of_default_model(), nullptr}, .looked_at = {"blocks.0.attn.pattern"}});
    while (worker.busy()) worker.wait(10ms);
    CHECK(worker.collect_early() == nullptr);
    CHECK(worker.collect());
}

TEST_CASE("all rows of the logits are computed when the worker rests, though only the last was awaited") {
    Watched watched;
    watched.worker->start({.main = {plan_of_default_model(), nullptr}, .last_row_first = {"logits"}});
    const Worker::Result result = watched.finish();
    CHECK(result.run->value("logits").is_ready());
    const auto all = execute(plan_of_default_model());
    CHECK(std::ranges::equal(result.run->value("logits").values(), all->value("logits").values()));
}
