#include "app/core/checks/invariants_monitor.h"

#include <exception>
#include <new>
#include <utility>

namespace decoderscope {

namespace {

// How long a run has to stand before it is measured.
constexpr std::chrono::milliseconds kCalm{250};

InvariantsMonitor::Result measure(const InvariantsMonitor::Job& job, const std::stop_token& stop) {
    InvariantsMonitor::Result result{.run = job.run};
    try {
        result.invariants = measure_invariants(*job.run, job.config, stop);
    } catch (const std::bad_alloc&) {
        result.error = "The checks do not fit into the machine's memory.";
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace

InvariantsMonitor::InvariantsMonitor(std::function<void()> wake) : thread_(measure, std::move(wake), kCalm) {}

void InvariantsMonitor::start(Job job) {
    thread_.forget();
    thread_.start(std::move(job));
}

}  // namespace decoderscope
