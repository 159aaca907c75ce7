#pragma once

#include <memory>

namespace decoderscope::window {

// While it lives, SIGINT, SIGTERM and SIGHUP, or the end of a Windows console, only set a flag.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Whether one came.
    [[nodiscard]] static bool told_to_stop();

private:
    struct Before;  // what happened without it
    std::unique_ptr<Before> before_;
};

}  // namespace decoderscope::window
