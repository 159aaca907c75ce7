#include "app/window/desktop/window_signals.h"

#include <cstddef>

namespace decoderscope::window {

namespace {

volatile std::sig_atomic_t told = 0;

}  // namespace

StopSignals::StopSignals() {
    told = 0;
    struct sigaction note {};
    note.sa_handler = [](int) { told = 1; };
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &note, &before_[i]);
}

StopSignals::~StopSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

bool StopSignals::told_to_stop() { return told != 0; }

}  // namespace decoderscope::window
