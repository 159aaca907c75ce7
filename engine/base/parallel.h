#pragma once

#include "engine/base/index.h"

#include <memory>
#include <type_traits>

namespace decoderscope {

// How many threads one piece of work is spread over: the machine's cores, or fewer under a ThreadLimit.
[[nodiscard]] Index thread_count();

// While it exists, work spread by this thread uses at most `threads` threads. Results do not depend on it.
class ThreadLimit {
public:
    explicit ThreadLimit(Index threads);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    Index before_;
};

namespace detail {

using RangeWork = void (*)(const void* work, Index begin, Index end);
void spread(Index count, Index chunk, detail::RangeWork run, const void* work);

// How many indices make one chunk: all of them if another thread would not pay.
[[nodiscard]] Index chunk_size(Index count, Index cost);

}  // namespace detail

// The cost of copying a number in memory, in multiply-adds.
inline constexpr Index kCopyCost = 8;

// Whether work of `cost` multiply-adds would be shared with other threads.
[[nodiscard]] bool is_shared(Index cost);

// Runs work(begin, end) over [0, count), in chunks on several threads where it pays; returns when all is done. `cost`
// is roughly how many multiply-adds one index takes. Chunks must write to separate places, and results must not depend
// on where a chunk begins. The first exception is rethrown here, and the rest may be left undone. Nested calls run on
// the calling thread.
template <class Work>
void in_parallel(Index count, Index cost, const Work& work) {
    const auto run = [](const void* it, Index begin, Index end) { (*static_cast<const Work*>(it))(begin, end); };
    detail::spread(count, detail::chunk_size(count, cost), run, &work);
}

// As above, with one chunk per index.
template <class Work>
void each_in_parallel(Index count, Index cost, const Work& work) {
    const auto all = [&work](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) work(i);
    };
    const auto run = [](const void* it, Index begin, Index end) {
        (*static_cast<const decltype(all)*>(it))(begin, end);
    };
    detail::spread(count, detail::chunk_size(count, cost) < count ? 1 : count, run, &all);
}

}  // namespace decoderscope
