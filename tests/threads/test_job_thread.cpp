// Jobs on a thread of their own: told, stopped, forgotten, replaced, put off.
#include "app/core/jobs/job_thread.h"
#include "tests/catch.h"

#include <atomic>
#include <string>

using namespace decoderscope;
using namespace std::chrono_literals;

namespace {

// A thread whose jobs wait at a gate, and say whether they were stopped.
struct Gated {
    std::atomic<bool> open = false;
    std::atomic<int> begun = 0;
    JobThread<std::string, std::string> thread;

    explicit Gated(std::chrono::milliseconds calm = {})
        : thread(
              [this](const std::string& job, const std::stop_token& stop) {
                  ++begun;
                  while (!open) std::this_thread::yield();
                  return job + (stop.stop_requested() ? " stopped" : " done");
              },
              {}, calm) {}
    ~Gated() { open = true; }
    Gated(const Gated&) = delete;
    Gated& operator=(const Gated&) = delete;

    void until_begun(int count) const {
        while (begun < count) std::this_thread::yield();
    }
    std::string result() {
        for (;;) {
            thread.wait(1000ms);
            if (auto result = thread.collect()) return *result;
        }
    }
};

}  // namespace

TEST_CASE("a job's result is told once") {
    Gated gated;
    CHECK_FALSE(gated.thread.busy());
    gated.thread.start("a");
    CHECK(gated.thread.busy());
    gated.open = true;
    CHECK(gated.result() == "a done");
    CHECK_FALSE(gated.thread.collect());
    CHECK_FALSE(gated.thread.busy());
}

TEST_CASE("a job is stopped whether it has begun or not, and says so") {
    for (const bool begun : {false, true}) {
        Gated gated;
        gated.thread.start("a");
        if (begun) gated.until_begun(1);
        gated.thread.stop();
        gated.open = true;
        CHECK(gated.result() == "a stopped");
        gated.thread.start("b");
        CHECK(gated.result() == "b done");
    }
}

TEST_CASE("nothing comes of a job that is forgotten, and the next one is told") {
    for (const bool begun : {false, true}) {
        Gated gated;
        gated.thread.start("a");
        if (begun) gated.until_begun(1);
        gated.thread.forget();
        gated.thread.start("b");
        gated.open = true;
        CHECK(gated.result() == "b done");
        gated.thread.finish();
        CHECK_FALSE(gated.thread.collect());
    }
}

TEST_CASE("of the jobs that wait only the newest is done") {
    Gated gated;
    gated.thread.start("a");
    gated.until_begun(1);
    gated.thread.start("b");
    gated.thread.start("c");
    gated.open = true;
    gated.thread.finish();
    CHECK(gated.thread.collect() == "c done");
    CHECK(gated.begun == 2);
}

TEST_CASE("a job that waits for calm gives way to the next, and begins at once for somebody who waits") {
    Gated gated(1h);
    gated.open = true;
    gated.thread.start("a");
    gated.thread.start("b");
    CHECK(gated.thread.busy());
    gated.thread.finish();
    CHECK(gated.thread.collect() == "b done");
    CHECK(gated.begun == 1);
    gated.thread.start("c");
    gated.thread.forget();
    gated.thread.finish();
    CHECK(gated.begun == 1);
    gated.thread.start("d");  // and its end does not wait for calm
}
