// Pieces of work on several threads at once.
#include "app/core/jobs/job.h"
#include "engine/base/parallel.h"
#include "tests/catch.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

// Pieces of several slices; each writes down its number at its end.
struct Counted {
    int begun = 0, all = 20;
    std::atomic<int> under_way = 0, most = 0;
    std::vector<int> ended = std::vector<int>(20);

    std::optional<Resumable<Done>> next() {
        if (begun == all) return std::nullopt;
        return piece(begun++);
    }
    Resumable<Done> piece(int number) {
        most = std::max<int>(most, ++under_way);
        for (int slice = 0; slice < 5; ++slice) co_yield kPause;
        --under_way;
        ++ended[static_cast<std::size_t>(number)];
        co_return Done{};
    }
};

Resumable<Done> failing() {
    co_yield kPause;
    throw std::runtime_error("no");
}

}  // namespace

TEST_CASE("pieces of work run side by side, no more than there are threads, and each to its end") {
    Counted counted;
    SideBySide pieces([&] { return counted.next(); });
    while (pieces.advance()) CHECK(counted.most <= thread_count());
    CHECK(std::ranges::count(counted.ended, 1) == 20);
    CHECK_FALSE(pieces.advance());
    counted.begun = 18;  // more work
    while (pieces.advance()) {
    }
    CHECK(std::ranges::count(counted.ended, 2) == 2);
}

TEST_CASE("what a piece of work throws comes out, and the others go on") {
    Counted counted;
    bool failed = false;
    SideBySide pieces([&] { return std::exchange(failed, true) ? counted.next() : std::optional(failing()); });
    CHECK_THROWS_AS(
        [&] {
            while (pieces.advance()) {
            }
        }(),
        std::runtime_error);
    while (pieces.advance()) {
    }
    CHECK(std::ranges::count(counted.ended, 1) == 20);
}
