#pragma once

#include <functional>
#include <utility>
#ifndef DECODERSCOPE_WITHOUT_THREADS
#include <exception>
#include <thread>
#endif

namespace decoderscope {

// A thread that may not be there: there is none in a build without threads, nor where the system makes no more of them,
// as in a container with a limit. Then whoever asked for it does the work itself. It is joined at its end.
class Thread {
public:
    Thread() = default;
#ifdef DECODERSCOPE_WITHOUT_THREADS
    explicit Thread(const std::function<void()>&) {}
    [[nodiscard]] bool runs() const { return false; }
#else
    explicit Thread(std::function<void()> work) {
        try {
            thread_ = std::jthread(std::move(work));
        } catch (const std::exception&) {  // of the system, or of too little memory
        }
    }
    [[nodiscard]] bool runs() const { return thread_.joinable(); }

private:
    std::jthread thread_;
#endif
};

}  // namespace decoderscope
