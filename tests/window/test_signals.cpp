// What tells the window to close.
#include "app/window/desktop/window_signals.h"
#include "tests/catch.h"

#include <csignal>

using namespace decoderscope::window;

TEST_CASE("a hangup, an interrupt and a wish to end close the window; what was ignored before stays so", "[window]") {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        {
            const StopSignals signals;
            CHECK_FALSE(StopSignals::told_to_stop());
            std::raise(signal);
            CHECK(StopSignals::told_to_stop());
        }
        void (*const before)(int) = std::signal(signal, SIG_IGN);  // as nohup does
        {
            const StopSignals signals;
            std::raise(signal);
            CHECK_FALSE(StopSignals::told_to_stop());
        }
        CHECK(std::signal(signal, before) == SIG_IGN);
    }
}
