#pragma once

#include "app/core/jobs/later.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace decoderscope {

// A value of the cache on its way: one that takes longer than a frame.
template <class T>
class Making {
public:
    Making() = default;
    virtual ~Making() = default;
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

    // Goes on for a part of a frame. The value once it is complete, given once.
    [[nodiscard]] virtual std::optional<T> advance() = 0;
    // From 0 to 1.
    [[nodiscard]] virtual double progress() const { return 0.0; }
    // Whether it runs on a thread and so can't be dropped half-way without waiting for it.
    [[nodiscard]] virtual bool on_thread() const { return false; }
};

namespace making {

template <class T>
class AtOnce : public Making<T> {
public:
    explicit AtOnce(std::function<T()> make) : make_(std::move(make)) {}
    std::optional<T> advance() override { return make_(); }

private:
    std::function<T()> make_;
};

template <class T>
class OnThread : public Making<T> {
public:
    explicit OnThread(std::function<T()> make) { later_.start(std::move(make)); }
    std::optional<T> advance() override { return later_.take(); }
    [[nodiscard]] bool on_thread() const override { return true; }

private:
    Later<T> later_;
};

template <class T, class Work, class Slice, class Finish>
class InSlices : public Making<T> {
public:
    InSlices(std::unique_ptr<Work> work, Slice slice, Finish finish)
        : work_(std::move(work)), slice_(slice), finish_(std::move(finish)) {}
    std::optional<T> advance() override {
        return work_->advance(slice_) ? std::optional<T>(finish_(*work_)) : std::nullopt;
    }
    [[nodiscard]] double progress() const override {
        if constexpr (requires { work_->progress(); })
            return work_->progress();
        else
            return 0.0;
    }

private:
    std::unique_ptr<Work> work_;
    Slice slice_;
    Finish finish_;
};

}  // namespace making

// Made in the frame that asks where it is `small`, else on a thread. `make` must own what it reads.
template <class T>
[[nodiscard]] std::unique_ptr<Making<T>> made_beside(bool small, std::function<T()> make) {
    if (small) return std::make_unique<making::AtOnce<T>>(std::move(make));
    return std::make_unique<making::OnThread<T>>(std::move(make));
}

// Made a slice of so many numbers a frame by work->advance(slice), which says when it is done; `finish` then takes the
// value from the work.
template <class T, class Work, class Slice, class Finish>
[[nodiscard]] std::unique_ptr<Making<T>> made_in_slices(std::unique_ptr<Work> work, Slice slice, Finish finish) {
    return std::make_unique<making::InSlices<T, Work, Slice, Finish>>(std::move(work), slice, std::move(finish));
}

}  // namespace decoderscope
