#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <utility>

namespace decoderscope {

// Something that takes longer than a frame, computed on a thread of its own, one at a time.
template <class T>
class Later {
public:
    [[nodiscard]] bool busy() const { return future_.valid(); }

    // Not while it is busy.
    void start(std::function<T()> work) { future_ = std::async(std::launch::async, std::move(work)); }

    // What was computed, once; nothing while it isn't there. Passes on what the work threw.
    [[nodiscard]] std::optional<T> take() {
        const bool there = future_.valid() && future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        return there ? std::optional<T>(future_.get()) : std::nullopt;
    }

private:
    std::future<T> future_;  // its end waits for the work
};

}  // namespace decoderscope
