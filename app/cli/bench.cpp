#include "app/core/session/bench.h"
#include "app/cli/commands.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

void bench(const RunOptions& options, int repeat, const std::string& gradients_of, bool json, std::ostream& out) {
    Scenario scenario = scenario_of(options);
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
