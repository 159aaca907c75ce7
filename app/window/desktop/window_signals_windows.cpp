#include "app/window/desktop/window_signals.h"

#include <windows.h>

#include <atomic>

namespace decoderscope::window {

namespace {

std::atomic<bool> told_by_console = false;

// Ctrl+C, the console's cross, and the end of the session: on a thread of their own. When it returns from one of the
// last two, the process ends.
BOOL WINAPI note_end(DWORD) {
    told_by_console = true;
    return TRUE;
}

}  // namespace

struct StopSignals::Before {};

StopSignals::StopSignals() {
    told_by_console = false;
    ::SetConsoleCtrlHandler(note_end, TRUE);
}

StopSignals::~StopSignals() { ::SetConsoleCtrlHandler(note_end, FALSE); }

bool StopSignals::told_to_stop() { return told_by_console; }

}  // namespace decoderscope::window
