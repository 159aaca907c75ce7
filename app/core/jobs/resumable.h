#pragma once

#include "engine/graph/run.h"

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace decoderscope::core {

// Ends a slice of work: `co_yield kPause;`.
struct Pause {};
inline constexpr Pause kPause;

namespace detail {

// The state of a function that pauses, whatever it returns.
class ResumablePromise {
public:
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Pause) noexcept { return {}; }
    void unhandled_exception() { thrown_ = std::current_exception(); }

    void wait_for(detail::ResumablePromise& inner) { inner_ = &inner; }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }
    // Runs to the next pause of this function or of the one that it waits for; true at the end, and from then on.
    bool advance() {
        for (;;) {
            if (self_.done()) return true;  // to resume it would be undefined
            if (inner_ != nullptr && !inner_->advance()) return false;
            inner_ = nullptr;
            self_.resume();
            if (inner_ == nullptr) return self_.done();
        }
    }

protected:
    explicit ResumablePromise(std::coroutine_handle<> self) : self_(self) {}

private:
    std::coroutine_handle<> self_;
    detail::ResumablePromise* inner_ = nullptr;
    std::exception_ptr thrown_;
};

}  // namespace detail

// Work that takes longer than a frame, as a function that pauses. `co_yield kPause` ends a slice, which should take a
// few milliseconds at most if possible; `co_return` returns the result; `co_await f()` does the work of another such
// function, with its pauses, and gives its result. It does nothing before the first advance(), and may be dropped at
// any pause. Arguments that are references must outlive it.
template <class T>
class [[nodiscard]] Resumable {
public:
    class promise_type : public detail::ResumablePromise {
    public:
        promise_type() : detail::ResumablePromise(std::coroutine_handle<promise_type>::from_promise(*this)) {}
        Resumable get_return_object() { return Resumable(std::coroutine_handle<promise_type>::from_promise(*this)); }
        void return_value(T value) { value_ = std::move(value); }
        T take() { return std::exchange(value_, std::nullopt).value(); }

    private:
        std::optional<T> value_;
    };

    Resumable(Resumable&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Resumable& operator=(Resumable&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Resumable() {
        if (handle_) handle_.destroy();
    }

    // Does the next slice, if there is one. Returns whether the work has ended.
    bool advance() { return handle_.promise().advance(); }
    // Call it once, when the work has ended. Rethrows what it threw.
    T result() {
        handle_.promise().rethrow();
        return handle_.promise().take();
    }

    // co_await: the waiting function continues when this one ends.
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Outer>
    void await_suspend(std::coroutine_handle<Outer> outer) noexcept {
        outer.promise().wait_for(handle_.promise());
    }
    T await_resume() { return result(); }

private:
    explicit Resumable(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

// Does all of it at once.
template <class T>
T finished(Resumable<T> work) {
    while (!work.advance()) {
    }
    return work.result();
}

// A function that can't be split, as work of one slice.
template <class Function>
auto in_one_slice(Function function) -> Resumable<decltype(function())> {
    co_return function();
}

// The result of work that delivers its results along the way.
struct Done {};

// execute() in slices, one step each. What the options refer to must outlive it.
[[nodiscard]] inline Resumable<std::shared_ptr<const Run>> execute_in_slices(std::shared_ptr<const Plan> plan,
                                                                             ExecuteOptions options = {}) {
    Execution execution(std::move(plan), options);
    while (!execution.advance()) co_yield kPause;
    co_return execution.run();
}

}  // namespace decoderscope::core
