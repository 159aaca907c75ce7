#include "app/cli/commands.h"
#include "app/core/generate/generator.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <ostream>

namespace decoderscope::cli {

namespace {

struct BenchResult {
    double forward_ms = 0.0;      // median over the runs
    double forward_cpu_ms = 0.0;  // of processor time, in all threads: other programs don't affect it
    double unrecorded_ms = 0.0;   // the same with each tensor freed after its last reader
    // The times of the answer to the edits, reusing a run without them: until the last row of the logits is done, and
    // until everything is.
    std::optional<double> edit_ms, edit_complete_ms;
    std::optional<double> with_gradients_ms;  // both ways, every gradient kept, if the scenario asks for gradients
    double with_gradients_cpu_ms = 0.0;
    std::optional<double> token_ms;  // median over the tokens that were written after the first, with the KV cache
    int runs = 0;
    std::size_t recorded_bytes = 0;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

// Milliseconds by the clock, and of processor time in all threads together.
struct Milliseconds {
    double clock = 0.0, cpu = 0.0;
};

// How long that took.
template <class Work>
Milliseconds milliseconds(const Work& work) {
    using Clock = std::chrono::steady_clock;
    const std::clock_t cpu_start =
        std::clock();  // outside: it asks the system, which takes as long as three small steps
    const Clock::time_point start = Clock::now();
    work();
    const double clock = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return {clock, 1e3 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

Milliseconds medians(const std::shared_ptr<const Plan>& plan, const ExecuteOptions& options, int repeat) {
    std::vector<double> clock, cpu;
    for (int i = 0; i < repeat; ++i) {
        std::shared_ptr<const Run> run;  // freed when it has been timed
        const Milliseconds time = milliseconds([&] { run = execute(plan, options); });
        clock.push_back(time.clock);
        cpu.push_back(time.cpu);
    }
    return {median(std::move(clock)), median(std::move(cpu))};
}

double median_ms(const std::shared_ptr<const Plan>& plan, const ExecuteOptions& options, int repeat) {
    return medians(plan, options, repeat).clock;
}

// Times the recorded forward pass, and if the scenario asks for gradients the backward pass with it, recomputing
// everything each time, after one uncounted warm-up run.
BenchResult bench_forward(const core::Scenario& timed, int repeat) {
    core::Scenario scenario = timed;
    scenario.gradient_target.clear();
    const std::shared_ptr<const Plan> plan = core::plan_of(scenario);
    const auto kept = [&](const Plan& of) {
        return core::kept_now(of, scenario.recording, scenario.memory).in_a_run();
    };
    const ExecuteOptions recording{.kept = kept(*plan)};
    BenchResult result{.runs = repeat, .recorded_bytes = execute(plan, recording)->recorded_bytes()};
    const Milliseconds forward = medians(plan, recording, repeat);
    result.forward_ms = forward.clock;
    result.forward_cpu_ms = forward.cpu;
    const auto outputs_only = [](const Step& step) { return step.name == "logits"; };
    result.unrecorded_ms = median_ms(plan, {.kept = outputs_only}, repeat);
    if (!timed.gradient_target.empty()) {
        const std::shared_ptr<const Plan> both_ways = core::plan_of(timed);
        const ExecuteOptions recording_both{.kept = kept(*both_ways)};
        static_cast<void>(execute(both_ways, recording_both));
        const Milliseconds with_gradients = medians(both_ways, recording_both, repeat);
        result.with_gradients_ms = with_gradients.clock;
        result.with_gradients_cpu_ms = with_gradients.cpu;
    }
    if (scenario.edits.empty()) return result;
    core::Scenario unedited = scenario;
    unedited.edits.clear();
    const std::shared_ptr<const Plan> without_edits = core::plan_of(unedited);
    const std::shared_ptr<const Run> before = execute(without_edits, {.kept = kept(*without_edits)});
    const std::vector<std::string> last_row_first = {"logits"};
    ExecuteOptions after{.previous = before.get(), .kept = recording.kept};
    result.edit_complete_ms = median_ms(plan, after, repeat);
    after.last_row_first = last_row_first;
    result.edit_ms = median_ms(plan, after, repeat);
    return result;
}

// Continues the first row by a token, which is the warm-up, and then by `count` more or to the text's end: the median
// time of a token in milliseconds, including planning and choosing. Throws Error if nothing can be generated, or the
// text ends with the first.
double median_token_ms(const core::Scenario& scenario, int count) {
    core::generate::Generator generator(scenario, 0, {.temperature = 0.0});
    std::vector<double> times;
    bool goes_on = generator.next().has_value();
    while (goes_on && static_cast<int>(times.size()) < count)
        times.push_back(milliseconds([&] { goes_on = generator.next().has_value(); }).clock);
    if (!goes_on && !times.empty()) times.pop_back();  // it wrote nothing
    if (times.empty()) throw Error("the text has only one token, so there is no token after the cached ones to time");
    return median(std::move(times));
}

struct BenchOptions {
    int repeat = 10, length = 0;
    std::string gradient_target;
    bool json = false;
};

void bench(const RunOptions& options, const BenchOptions& wanted, std::ostream& out) {
    core::Scenario scenario = scenario_of(options);
    scenario.gradient_target = wanted.gradient_target;
    static_cast<void>(plan_naming_files(scenario, options));
    BenchResult result = bench_forward(scenario, wanted.repeat);
    if (wanted.length > 0) naming(options.model, [&] { result.token_ms = median_token_ms(scenario, wanted.length); });
    if (!wanted.json) {
        out << options.model << ": " << result.forward_ms << " ms, median of " << result.runs
            << " recorded forward passes, " << result.unrecorded_ms << " ms unrecorded; " << result.recorded_bytes
            << " bytes recorded\n";
        if (result.with_gradients_ms) out << "with all gradients: " << *result.with_gradients_ms << " ms\n";
        if (result.edit_ms)
            out << "the edits alone: " << *result.edit_ms << " ms until the last row of the logits, "
                << *result.edit_complete_ms << " ms in all\n";
        if (result.token_ms) out << "a token more, with the KV cache: " << *result.token_ms << " ms\n";
        return;
    }
    out << "{\"forward_ms\": " << result.forward_ms << ", \"forward_cpu_ms\": " << result.forward_cpu_ms
        << ", \"runs\": " << result.runs << ", \"recorded_bytes\": " << result.recorded_bytes
        << ", \"unrecorded_ms\": " << result.unrecorded_ms;
    if (result.with_gradients_ms)
        out << ", \"with_gradients_ms\": " << *result.with_gradients_ms
            << ", \"with_gradients_cpu_ms\": " << result.with_gradients_cpu_ms;
    if (result.edit_ms)
        out << ", \"edit_ms\": " << *result.edit_ms << ", \"edit_complete_ms\": " << *result.edit_complete_ms;
    if (result.token_ms) out << ", \"token_ms\": " << *result.token_ms;
    out << "}\n";
}

}  // namespace

void add_bench(CLI::App& app, const Context& context) {
    const auto wanted = std::make_shared<BenchOptions>();
    CLI::App& command = add_running(app, context, "bench", "Time the recorded forward pass");
    command.add_option("--repeat", wanted->repeat, "number of timed runs (10)")->transform(within(bounds::kRepeats));
    command.add_option("--gradients-of", wanted->gradient_target,
                       "also time the pass with the gradients of a cell or of the loss with respect to everything");
    command.add_option("--length", wanted->length, "also time this many more tokens, generated with the KV cache")
        ->transform(within(bounds::kRepeats));
    command.add_flag("--json", wanted->json, "print the result as JSON");
    command.callback(
        [context, wanted] { context.work = [context, wanted] { bench(context.run, *wanted, context.out); }; });
}

}  // namespace decoderscope::cli
