#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <stop_token>

namespace decoderscope {

// How far a model is read, and the way to stop it: shared by the thread that reads and the one that waits.
struct LoadProgress {
    std::atomic<std::size_t> bytes_read = 0;
    std::atomic<std::size_t> bytes_total = 0;  // 0: not known yet
    std::stop_token stop;                      // set before the reading starts
};

// Thrown out of a load that was stopped. Nothing went wrong, so it is no Error.
class LoadStopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

}  // namespace decoderscope
