#include "app/core/tabs/bisect/shown_bisection.h"

#include "app/core/run/open_model.h"
#include "engine/base/error.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

// Mistakes that are easy to make and worth meeting first.
constexpr std::array<std::string_view, 4> kMistakes = {"causal-one-too-far", "no-final-norm", "no-residual-mlp",
                                                       "no-scale"};

// The first that changes this plan.
std::string_view mistake_for(Scenario scenario) {
    const std::shared_ptr<const Plan> right = plan_of(scenario);
    for (const std::string_view name : kMistakes) {
        scenario.mutation = name;
        try {
            if (mutations::first_changed(*right, *plan_of(scenario)) != nullptr) return name;
        } catch (const Error&) {  // not of this architecture
        }
    }
    return {};
}

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

bool has_example_recording(const Scenario& scenario) {
    return scenario.computes() && std::ranges::any_of(load::bundled_models(), [&](const load::BundledModel& model) {
               return model.name == scenario.about().name;
           });
}

ExampleRecording write_example_recording(Scenario scenario) {
    scenario.edits.clear();
    scenario.gradient_target.clear();
    const std::string_view mistake = mistake_for(scenario);
    if (mistake.empty()) throw Error("No mistake is known that this model could be recorded with.");
    scenario.mutation = mistake;
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("decoderscope-example-" + scenario.about().name + ".safetensors");
    write_safetensors(file.string(), recorded_tensors(*execute(plan_of(scenario))));
    return {std::string(mistake), file.string()};
}

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
