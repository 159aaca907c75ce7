#include "app/core/checks/invariants_monitor.h"

#include "engine/error.h"

#include <exception>
#include <new>
#include <utility>

namespace decoderscope {

namespace {

// How long a run must stay current before it is measured.
constexpr std::chrono::milliseconds kCalm{250};

Resumable<InvariantsMonitor::Result> measure(InvariantsMonitor::Order order) {
    InvariantsMonitor::Result result{.run = order.run};
    try {
        result.invariants = co_await invariants_in_slices(*order.run, order.config);
    } catch (const std::bad_alloc&) {
        result.error = message("The checks do not fit into the machine's memory.");
    } catch (const std::exception& error) {
        result.error = sentence_of(error);
    }
    co_return result;
}

}  // namespace

void InvariantsMonitor::start(Order order) {
    job_.forget();
    job_.start([order = std::move(order)](const std::stop_token&) { return measure(order); },
               JobRunner::Clock::now() + kCalm);
}

}  // namespace decoderscope
