// Background work: reported, stopped, forgotten, replaced, delayed. It runs on its own thread, or in slices in a build
// without threads.
#include "app/core/jobs/job.h"
#include "tests/catch.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

using namespace decoderscope::testing;
using namespace std::chrono_literals;

namespace {

// A job whose work waits at a gate, and reports whether it was stopped.
struct Gated {
    std::atomic<bool> open = false;
    std::atomic<int> begun = 0;
    Job<std::string> job;

    Gated() = default;
    ~Gated() { open = true; }
    Gated(const Gated&) = delete;
    Gated& operator=(const Gated&) = delete;

    Resumable<std::string> at_the_gate(std::string name, std::stop_token stop) {
        ++begun;
        while (!open) co_yield kPause;
        co_return name + (stop.stop_requested() ? " stopped" : " done");
    }
    void start(const std::string& name, std::chrono::milliseconds later = 0ms) {
        job.start([this, name](const std::stop_token& stop) { return at_the_gate(name, stop); },
                  JobRunner::Clock::now() + later);
    }
    void until_begun(int count) {
        while (begun < count) {
            job.advance(JobRunner::Clock::now());
            std::this_thread::yield();
        }
    }
    std::string result() {
        for (;;) {
            job.wait(1000ms);
            if (auto result = job.collect()) return *result;
        }
    }
};

Resumable<int> counted(int count, bool fails = false) {
    for (int i = 0; i < count; ++i) co_yield kPause;
    if (fails) throw std::runtime_error("wrong");
    co_return count;
}

Resumable<int> counted_twice(int count, bool fails) {
    const int first = co_await counted(count);
    const int second = co_await counted(count, fails);
    co_return first + second;
}

}  // namespace

TEST_CASE("work pauses where it says so, also in what it waits for, and hands its result over") {
    Resumable<int> work = counted_twice(3, false);
    int slices = 1;
    while (!work.advance()) ++slices;
    CHECK(slices == 7);  // six pauses
    CHECK(work.result() == 6);
    CHECK_THROWS_AS(finished(counted_twice(3, true)), std::runtime_error);
    CHECK(finished(in_one_slice([] { return 5; })) == 5);
}

TEST_CASE("work that has ended isn't resumed, by itself or by what waits for it, and gives its result once") {
    Resumable<int> work = counted(1);
    while (!work.advance()) {
    }
    CHECK(work.advance());
    const auto waits = [](Resumable<int> ended) -> Resumable<int> { co_return co_await ended + 1; };
    CHECK(finished(waits(std::move(work))) == 2);
    Resumable<int> wrong = counted(0, true);
    for (int i = 0; i < 3; ++i) CHECK(wrong.advance());
    CHECK_THROWS_AS(wrong.result(), std::runtime_error);
    Resumable<int> taken = counted(0);
    CHECK(taken.advance());
    CHECK(taken.result() == 0);
    CHECK_THROWS(taken.result());
}

TEST_CASE("a job's result is reported once") {
    Gated gated;
    CHECK_FALSE(gated.job.busy());
    gated.start("a");
    CHECK(gated.job.busy());
    gated.open = true;
    CHECK(gated.result() == "a done");
    CHECK_FALSE(gated.job.collect());
    gated.job.finish();
    CHECK_FALSE(gated.job.busy());
}

TEST_CASE("what a job throws is an Error where its result is collected") {
    Job<int> job;
    job.start([](const std::stop_token&) { return counted(3, true); });
    job.finish();
    CHECK_THROWS_AS(job.collect(), Error);
    CHECK_FALSE(job.collect());
}

TEST_CASE("a job is stopped whether it has begun or not, and says so") {
    for (const bool begun : {false, true}) {
        Gated gated;
        gated.start("a");
        if (begun) gated.until_begun(1);
        gated.job.stop();
        gated.open = true;
        CHECK(gated.result() == "a stopped");
        gated.start("b");
        CHECK(gated.result() == "b done");
    }
}

TEST_CASE("a forgotten job has no result, and the next one is reported") {
    for (const bool begun : {false, true}) {
        Gated gated;
        gated.start("a");
        if (begun) gated.until_begun(1);
        gated.job.forget();
        gated.start("b");
        gated.open = true;
        CHECK(gated.result() == "b done");
        gated.job.finish();
        CHECK_FALSE(gated.job.collect());
    }
}

TEST_CASE("a job that is forgotten ends at its next pause, though its gate stays shut") {
    Gated gated;
    gated.start("a");
    gated.until_begun(1);
    gated.job.forget();
    gated.job.finish();
    CHECK_FALSE(gated.job.busy());
}

// A wake-up that is lost shows as a test that doesn't end.
TEST_CASE("a job ends with its object, at any moment between its start and its thread's sleep") {
    int done = 0;
    for (int round = 0; round < 3'000; ++round) {
        Job<int> job;
        job.start([](const std::stop_token&) { return counted(3); });
        for (int i = 0; i < round % 50; ++i) std::this_thread::yield();
        if (round % 3 == 0) job.finish();
        done += job.collect() ? 1 : 0;
    }
    CHECK(done >= 1'000);
}

TEST_CASE("of the jobs that wait only the newest is done") {
    Gated gated;
    gated.start("a");
    gated.until_begun(1);
    gated.start("b");
    gated.start("c");
    gated.open = true;
    gated.job.finish();
    CHECK(gated.job.collect() == "c done");
    CHECK(gated.begun == 2);
}

TEST_CASE("a job that is due later gives way to the next, and begins at once when it is waited for") {
    Gated gated;
    gated.open = true;
    gated.start("a", 1h);
    gated.start("b", 1h);
    CHECK(gated.job.busy());
    gated.job.advance(JobRunner::Clock::now());
    CHECK(gated.begun == 0);
    gated.job.finish();
    CHECK(gated.job.collect() == "b done");
    CHECK(gated.begun == 1);
    gated.start("c", 1h);
    gated.job.forget();
    gated.job.finish();
    CHECK(gated.begun == 1);
    gated.start("d", 1h);  // and its end does not wait until it is due
}

TEST_CASE("a job that is due later begins by itself") {
    Gated gated;
    gated.open = true;
    const auto start = JobRunner::Clock::now();
    gated.start("a", 30ms);
    while (gated.begun == 0) {
        if (const auto due = gated.job.due()) CHECK(*due >= start + 30ms);
        gated.job.advance(JobRunner::Clock::now());
        std::this_thread::yield();
    }
    CHECK(JobRunner::Clock::now() - start >= 30ms);
    CHECK(gated.result() == "a done");
    CHECK_FALSE(gated.job.due());
}
