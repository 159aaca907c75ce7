#include "app/cli/progress.h"

#include "app/core/export/watched.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

namespace decoderscope::cli {

namespace {

// A signal handler may only use this.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void interrupt(int) { interrupted = 1; }

}  // namespace

Progress::Progress(std::string what, std::size_t parts)
    : what_(std::move(what)), parts_(std::max<std::size_t>(parts, 1)), shown_(parts > 1 && ::isatty(STDERR_FILENO)) {
    interrupted = 0;
    handler_before_ = std::signal(SIGINT, interrupt);
}

Progress::~Progress() {
    std::signal(SIGINT, handler_before_);
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::advance() {
    if (interrupted != 0) throw ExportStopped();
    if (!shown_) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = std::min(width, done_ * width / parts_);
    std::cerr << "\r\x1b[K" << what_ << " [" << std::string(filled, '#') << std::string(width - filled, '.') << "] "
              << std::min(done_, parts_) << " / " << parts_ << std::flush;
    ++done_;
}

}  // namespace decoderscope::cli
