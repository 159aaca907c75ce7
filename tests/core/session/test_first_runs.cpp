// What a session shows when it opens can be computed before there is a session: behind a window that says how far it
// is.
#include "app/core/session/session.h"
#include "engine/files/mapped_file.h"
#include "engine/graph/run.h"
#include "engine/load/bundled_models.h"
#include "engine/tensor/tensor.h"
#include "tests/catch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;

namespace {

files::SavedSession edited_work() {
    files::SavedSession work{.scenario = scenario_of(make_bundled_model("simple-decoder"))};
    work.scenario.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}};
    work.pins = {{"as it was", scenario_of(make_bundled_model("simple-decoder"))}};
    return work;
}

}  // namespace

TEST_CASE("the first runs are those that a session computes itself") {
    const files::SavedSession work = edited_work();
    const FirstRuns first = finished(first_runs(work));
    const Session given(work, first, {});
    CHECK(given.shown().run == first.run);
    CHECK(given.shown().unedited == first.unedited);
    CHECK(given.shown().pinned == first.pinned);
    CHECK_FALSE(given.stale());
    const Session computed(work);
    for (const Step& step : computed.shown().run->plan().steps()) {
        INFO(step.name);
        const Tensor &ours = first.run->value(step.name), &its = computed.shown().run->value(step.name);
        REQUIRE(ours.size() == its.size());
        CHECK(std::equal(ours.data(), ours.data() + ours.size(), its.data()));
    }
    CHECK(first.unedited != first.run);
    CHECK(first.pinned != nullptr);
}

TEST_CASE("the first runs say how far they are, and end when they are no longer wanted") {
    const files::SavedSession work = edited_work();
    const auto progress = std::make_shared<WorkProgress>();
    Resumable<FirstRuns> runs = first_runs(work, {}, progress);
    std::size_t before = 0;
    while (!runs.advance()) {
        CHECK(progress->done >= before);
        before = progress->done;
    }
    CHECK(progress->all > 20);
    CHECK(progress->done == progress->all);

    std::stop_source stop;
    Resumable<FirstRuns> stopped = first_runs(work, stop.get_token());
    for (int slices = 0; slices < 5; ++slices) CHECK_FALSE(stopped.advance());
    stop.request_stop();
    while (!stopped.advance()) {
    }
    CHECK_THROWS_AS(stopped.result(), LoadStopped);
}

TEST_CASE("how long the rest takes is said when a hundredth is done: the first steps may be slower than all others") {
    WorkProgress progress;
    progress.all = 10'000;
    const auto begun = JobRunner::Clock::now();
    CHECK(progress.seconds_left(begun) == std::nullopt);
    progress.done = 20;
    CHECK(progress.seconds_left(begun + std::chrono::seconds(10)) == std::nullopt);
    progress.done = 200;
    CHECK(progress.seconds_left(begun + std::chrono::seconds(20)) == 980.0);
}
