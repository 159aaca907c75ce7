#include "app/core/labs/bisect/shown_bisection.h"

#include "app/core/run/open_model.h"
#include "engine/base/error.h"

#include <exception>
#include <new>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

// Written by the job, read by the window.
struct ProgressOfBisection {
    std::shared_ptr<BisectProgress> of = std::make_shared<BisectProgress>();
};

std::shared_ptr<BisectProgress> progress_of(Derived& derived, const Snapshot& shown,
                                            const std::shared_ptr<const trace::Trace>& trace,
                                            const BisectInputs& question) {
    return derived
        .get<ProgressOfBisection>({shown.run, trace}, std::tie(question), [] { return ProgressOfBisection(); })
        ->of;
}

Resumable<ShownBisection> bisected(Scenario scenario, std::shared_ptr<const trace::Trace> trace, BisectInputs question,
                                   std::shared_ptr<BisectProgress> progress) {
    ShownBisection shown;
    try {
        BisectOptions options{.tolerance = question.tolerance, .chosen = question.chosen};
        shown.found =
            co_await bisect_in_slices(on_recorded_input(std::move(scenario), *trace), trace, options, progress);
    } catch (const std::bad_alloc&) {
        shown.error = message("The comparison does not fit into the machine's memory.");
    } catch (const std::exception& error) {
        shown.error = sentence_of(error);
    }
    co_return shown;
}

}  // namespace

Value<ShownBisection> shown_bisection(Derived& derived, const Snapshot& shown,
                                      const std::shared_ptr<const trace::Trace>& trace, const BisectInputs& question) {
    return derived.later<ShownBisection>({shown.run, trace}, std::tie(question), [&] {
        return bisected(shown.scenario, trace, question, progress_of(derived, shown, trace, question));
    });
}

double bisection_progress(Derived& derived, const Snapshot& shown, const std::shared_ptr<const trace::Trace>& trace,
                          const BisectInputs& question) {
    const std::shared_ptr<BisectProgress> progress = progress_of(derived, shown, trace, question);
    const std::size_t all = progress->all;
    return all == 0 ? 0.0 : static_cast<double>(progress->done) / static_cast<double>(all);
}

Value<PossibleSteps> shown_possible_steps(Derived& derived, const Snapshot& shown,
                                          const std::shared_ptr<const trace::Trace>& trace, const std::string& tensor) {
    return derived.get<PossibleSteps>({shown.run, trace}, std::tie(tensor), [&] {
        const trace::TraceTensor* found = trace->find(tensor);
        return found == nullptr ? PossibleSteps() : PossibleSteps{possible_steps(shown.run->plan(), *found)};
    });
}

}  // namespace decoderscope::core::bisect
