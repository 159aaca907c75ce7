#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

namespace decoderscope {

// How much of a model has been read, and how to stop reading: shared by the thread that reads and the one that waits.
struct LoadProgress {
    std::atomic<std::size_t> bytes_read = 0;
    std::atomic<std::size_t> bytes_total = 0;  // 0: not known yet
    std::stop_token stop;                      // set before the reading starts
    // How many bytes the weights may take as floats that a file stores in fewer bits (engine/load/expanded.h); 0: three
    // quarters of this machine's memory. Set before the reading starts.
    std::uint64_t memory = 0;
};

// Thrown out of a load that was stopped. Nothing went wrong, so it is not an Error.
class LoadStopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

}  // namespace decoderscope
