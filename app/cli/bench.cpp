#include "app/core/session/bench.h"
#include "app/cli/commands.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

void bench(const RunOptions& options, int repeat, bool json, std::ostream& out) {
    const Scenario scenario = scenario_of(options);
    static_cast<void>(plan_naming_files(scenario, options));
    const BenchResult result = bench_forward(scenario, repeat);
    if (!json) {
        out << options.model << ": " << result.forward_ms << " ms, median of " << result.runs
            << " recorded forward passes, " << result.unrecorded_ms << " ms unrecorded; " << result.recorded_bytes
            << " bytes recorded\n";
        if (result.edit_ms)
            out << "the edits alone: " << *result.edit_ms << " ms until the last row of the logits, "
                << *result.edit_complete_ms << " ms in all\n";
        return;
    }
    out << "{\"forward_ms\": " << result.forward_ms << ", \"runs\": " << result.runs
        << ", \"recorded_bytes\": " << result.recorded_bytes << ", \"unrecorded_ms\": " << result.unrecorded_ms;
    if (result.edit_ms)
        out << ", \"edit_ms\": " << *result.edit_ms << ", \"edit_complete_ms\": " << *result.edit_complete_ms;
    out << "}\n";
}

}  // namespace

void add_bench(CLI::App& app, const Context& context) {
    struct Wanted {
        int repeat = 10;
        bool json = false;
    };
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& command = add_running(app, context, "bench", "Time the recorded forward pass");
    command.add_option("--repeat", wanted->repeat, "number of timed runs (10)")->check(CLI::Range(1, 1'000'000));
    command.add_flag("--json", wanted->json, "print the result as JSON");
    command.callback([context, wanted] {
        context.work = [context, wanted] { bench(context.run, wanted->repeat, wanted->json, context.out); };
    });
}

}  // namespace decoderscope::cli
