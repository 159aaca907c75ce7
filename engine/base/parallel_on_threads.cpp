// Spreads work over threads, one per core.
#include "engine/base/parallel.h"
#include "engine/base/thread.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

// What a second thread costs to wake, in multiply-adds: below this, one thread finishes sooner.
constexpr Index kWorthwhile = 400'000;
// How often an idle helper polls for work before it sleeps: about ten microseconds, the gap between two steps of a run.
constexpr int kSpins = 4'000;

thread_local Index thread_limit = 0;       // 0: none
thread_local bool inside_of_work = false;  // no work is spread from within work

class InsideOfWork {
public:
    InsideOfWork() { inside_of_work = true; }
    ~InsideOfWork() { inside_of_work = false; }
    InsideOfWork(const InsideOfWork&) = delete;
    InsideOfWork& operator=(const InsideOfWork&) = delete;
};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// The threads that help with spread work, one for each other core. They belong to the process, as its memory does: no
// result depends on them.
class Helpers {
public:
    explicit Helpers(Index count) {
        threads_.reserve(static_cast<std::size_t>(count));
        for (Index i = 0; i < count; ++i)
            if (!threads_.emplace_back([this, i] { serve(i); }).runs()) break;  // the system makes no more of them
    }
    ~Helpers() {
        leave_ = true;
        announce();
    }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    // False if they are busy with other work. Helpers that wake too late are not waited for.
    bool help(Index helpers, Index count, Index chunk, detail::RangeWork run, const void* work) {
        const std::unique_lock lock(busy_, std::try_to_lock);
        if (!lock) return false;
        count_ = count;
        chunk_ = chunk;
        run_ = run;
        work_ = work;
        wanted_ = helpers;
        next_ = 0;
        open_ = true;
        announce();
        take_chunks();
        open_ = false;
        while (inside_ > 0) pause();
        if (failed_) {
            failed_ = false;
            std::rethrow_exception(std::exchange(failure_, nullptr));
        }
        return true;
    }

private:
    // A condition variable rather than round_.wait(), which loses wake-ups in libstdc++ 12 on Windows.
    void announce() {
        ++round_;
        if (asleep_ == 0) return;
        const std::lock_guard lock(sleep_);  // a helper between its look at round_ and its sleep would miss it
        woken_.notify_all();
    }

    void sleep_through(std::uint32_t round) {
        std::unique_lock lock(sleep_);
        ++asleep_;
        woken_.wait(lock, [&] { return round_ != round; });
        --asleep_;
    }

    void serve(Index number) {
        inside_of_work = true;
        for (std::uint32_t seen = 0;;) {
            for (int i = 0; i < kSpins && round_.load(std::memory_order_acquire) == seen; ++i) pause();
            if (round_ == seen) sleep_through(seen);
            seen = round_.load(std::memory_order_acquire);
            if (leave_) return;
            // Counted before checking for work, so that the end of the work is never missed.
            ++inside_;
            if (open_ && number < wanted_) take_chunks();
            --inside_;
        }
    }

    // The first exception is kept for the caller, and chunks that were not begun are skipped.
    void take_chunks() {
        try {
            for (Index begin = next_.fetch_add(chunk_, std::memory_order_relaxed); begin < count_;
                 begin = next_.fetch_add(chunk_, std::memory_order_relaxed))
                run_(work_, begin, std::min(begin + chunk_, count_));
        } catch (...) {
            next_ = count_;
            if (!failed_.exchange(true)) failure_ = std::current_exception();
        }
    }

    std::mutex busy_;
    Index count_ = 0, chunk_ = 1, wanted_ = 0;
    detail::RangeWork run_ = nullptr;
    const void* work_ = nullptr;
    std::atomic<Index> next_ = 0, inside_ = 0;
    std::atomic<bool> open_ = false;
    std::atomic<bool> failed_ = false;
    std::exception_ptr failure_;
    std::atomic<std::uint32_t> round_ = 0;
    std::mutex sleep_;
    std::condition_variable woken_;
    std::atomic<int> asleep_ = 0;
    std::atomic<bool> leave_ = false;
    std::vector<Thread> threads_;  // last: they start when all other members exist
};

// Cached, because asking the system reads a file.
Index core_count() {
    static const Index count = std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
    return count;
}

Helpers& helpers() {
    static Helpers all(core_count() - 1);
    return all;
}

}  // namespace

Index thread_count() {
    const Index cores = core_count();
    return thread_limit > 0 ? std::min(thread_limit, cores) : cores;
}

ThreadLimit::ThreadLimit(Index threads) : before_(thread_limit) { thread_limit = threads; }
ThreadLimit::~ThreadLimit() { thread_limit = before_; }

bool is_shared(Index cost) { return !inside_of_work && cost >= kWorthwhile && thread_count() > 1; }

Index detail::chunk_size(Index count, Index cost) {
    if (!is_shared(count * cost)) return count;
    const Index threads = thread_count();
    // A few chunks per thread, so that a delayed thread does not delay them all.
    const Index pieces = std::clamp<Index>(count * cost / (kWorthwhile / 4), threads, threads * 4);
    return std::max<Index>(1, (count + pieces - 1) / pieces);
}

void detail::spread(Index count, Index chunk, detail::RangeWork run, const void* work) {
    if (count <= 0) return;
    if (chunk < count && !inside_of_work) {
        const InsideOfWork inside;
        if (helpers().help(thread_count() - 1, count, chunk, run, work)) return;
    }
    run(work, 0, count);
}

}  // namespace decoderscope
