#include "app/cli/bench.h"

#include "app/cli/commands.h"

#include <algorithm>
#include <chrono>
#include <ostream>

namespace decoderscope::cli {

namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

double median_ms(const std::shared_ptr<const Plan>& plan, const ExecuteOptions& options, int repeat) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < repeat; ++i) {
        const Clock::time_point start = Clock::now();
        const std::shared_ptr<const Run> run = execute(plan, options);
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    return median(std::move(times));
}

}  // namespace

BenchResult bench_forward(const core::Scenario& timed, int repeat) {
    core::Scenario scenario = timed;
    scenario.gradients_of.clear();
    const std::shared_ptr<const Plan> plan = core::plan_of(scenario);
    BenchResult result{.runs = repeat, .recorded_bytes = execute(plan)->recorded_bytes()};
    result.forward_ms = median_ms(plan, {}, repeat);
    const auto outputs_only = [](const Step& step) { return step.name == "logits"; };
    result.unrecorded_ms = median_ms(plan, {.kept = outputs_only}, repeat);
    if (!timed.gradients_of.empty()) {
        const std::shared_ptr<const Plan> both_ways = core::plan_of(timed);
        static_cast<void>(execute(both_ways));
        result.with_gradients_ms = median_ms(both_ways, {}, repeat);
    }
    if (scenario.edits.empty()) return result;
    core::Scenario unedited = scenario;
    unedited.edits.clear();
    const std::shared_ptr<const Run> before = execute(core::plan_of(unedited));
    const std::vector<std::string> last_row_first = {"logits"};
    result.edit_ms = median_ms(plan, {.previous = before.get(), .last_row_first = last_row_first}, repeat);
    result.edit_complete_ms = median_ms(plan, {.previous = before.get()}, repeat);
    return result;
}

}  // namespace decoderscope::cli

namespace decoderscope::cli {

namespace {

void bench(const RunOptions& options, int repeat, const std::string& gradients_of, bool json, std::ostream& out) {
    core::Scenario scenario = scenario_of(options);
    scenario.gradients_of = gradients_of;
    static_cast<void>(plan_naming_files(scenario, options));
    const BenchResult result = bench_forward(scenario, repeat);
    if (!json) {
        out << options.model << ": " << result.forward_ms << " ms, median of " << result.runs
            << " recorded forward passes, " << result.unrecorded_ms << " ms unrecorded; " << result.recorded_bytes
            << " bytes recorded\n";
        if (result.with_gradients_ms) out << "with all gradients: " << *result.with_gradients_ms << " ms\n";
        if (result.edit_ms)
            out << "the edits alone: " << *result.edit_ms << " ms until the last row of the logits, "
                << *result.edit_complete_ms << " ms in all\n";
        return;
    }
    out << "{\"forward_ms\": " << result.forward_ms << ", \"runs\": " << result.runs
        << ", \"recorded_bytes\": " << result.recorded_bytes << ", \"unrecorded_ms\": " << result.unrecorded_ms;
    if (result.with_gradients_ms) out << ", \"with_gradients_ms\": " << *result.with_gradients_ms;
    if (result.edit_ms)
        out << ", \"edit_ms\": " << *result.edit_ms << ", \"edit_complete_ms\": " << *result.edit_complete_ms;
    out << "}\n";
}

}  // namespace

void add_bench(CLI::App& app, const Context& context) {
    struct Wanted {
        int repeat = 10;
        std::string gradients_of;
        bool json = false;
    };
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& command = add_running(app, context, "bench", "Time the recorded forward pass");
    command.add_option("--repeat", wanted->repeat, "number of timed runs (10)")->check(CLI::Range(1, 1'000'000));
    command.add_option("--gradients-of", wanted->gradients_of,
                       "also time the pass with the gradients of a cell or of the loss by everything");
    command.add_flag("--json", wanted->json, "print the result as JSON");
    command.callback([context, wanted] {
        context.work = [context, wanted] {
            bench(context.run, wanted->repeat, wanted->gradients_of, wanted->json, context.out);
        };
    });
}

}  // namespace decoderscope::cli
