// What a session shows when it opens can be computed before there is a session: behind a window that says how far it
// is.
#include "app/cli.h"
#include "app/core/run/scenario.h"
#include "app/core/session/computed.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/files/mapped_file.h"
#include "engine/graph/run.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "engine/tensor/tensor.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stop_token>
#include <thread>

using namespace decoderscope::testing;
using namespace std::chrono_literals;

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

// The log for a report: what happened, without what models hold or a person typed.

TEST_CASE("a log names the program, what was opened, the commands, the runs' times and the failures, and no number") {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.txt");
    {
        Session session(make_bundled_model("simple-decoder"));
        session.log_to(std::make_shared<Log>(path));
        apply(session, command::TypeOver{"blocks.0.attn.z", {0, 0, 0, 0}, 0.123456F});
        apply(session, command::SetOption{"nhead", "7"});
    }
    const std::string log = text_of_file(path);
    for (const char* part : {"Decoderscope " DECODERSCOPE_VERSION, "threads", "opened simple-decoder",
                             "command TypeOver", "command SetOption", "simple-decoder: computed ", " ms", "failed: "}) {
        CAPTURE(part, log);
        CHECK(contains(log, part));
    }
    CHECK_FALSE(contains(log, "0.123"));
}

TEST_CASE("the command line's log has the command, its options' names and how it ended") {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.txt");
    std::ostringstream out, err;
    const std::vector<std::string> arguments = {"--log",  path,         "explain", "causal-lm",
                                                "--cell", "nowhere[0]", "--text",  "abc"};
    CHECK(app::run_cli(arguments, out, err).status == 1);
    const std::string log = text_of_file(path);
    CAPTURE(log);
    CHECK(contains(log, "explain with --"));
    CHECK(contains(log, "--text"));
    CHECK(contains(log, "of causal-lm"));
    CHECK(contains(log, "failed: "));
    CHECK(contains(log, "ended with status 1"));
    CHECK_FALSE(contains(log, "abc"));
    CHECK_THROWS_AS(Log(folder.file("nowhere/log.txt")), Error);
}

// What the worker shows before everything is computed.

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
