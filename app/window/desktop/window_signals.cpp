#include "app/window/desktop/window_signals.h"

#include <array>
#include <csignal>
#include <cstddef>

namespace decoderscope::window {

namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t told = 0;

}  // namespace

struct StopSignals::Before {
    std::array<struct sigaction, signals.size()> actions{};
};

StopSignals::StopSignals() : before_(std::make_unique<Before>()) {
    told = 0;
    struct sigaction note {};
    note.sa_handler = [](int) { told = 1; };
    for (std::size_t i = 0; i < signals.size(); ++i) {
        struct sigaction& before = before_->actions[i];
        sigaction(signals[i], &note, &before);
        if (before.sa_handler == SIG_IGN) sigaction(signals[i], &before, nullptr);  // by nohup, or a script's shell
    }
}

StopSignals::~StopSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_->actions[i], nullptr);
}

bool StopSignals::told_to_stop() { return told != 0; }

}  // namespace decoderscope::window
