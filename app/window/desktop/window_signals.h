#pragma once

#include <array>
#include <csignal>

namespace decoderscope::window {

// While it lives, SIGINT and SIGTERM only set a flag.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Whether one came.
    [[nodiscard]] static bool told_to_stop();

private:
    static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
    std::array<struct sigaction, 2> before_{};
};

}  // namespace decoderscope::window
