#include "app/cli/commands.h"
#include "app/core/run/open_model.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "engine/base/error.h"

#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace decoderscope::cli {

namespace {

struct BisectRequest {
    std::string against;
    std::optional<double> tolerance;
    bool json = false;
};

// The scenario on what the recorded model was given, unless the command line says otherwise.
core::Scenario scenario_for(const RunOptions& run, const trace::Trace& trace) {
    core::Scenario scenario = scenario_of(run);
    if (!scenario.mutation.empty())
        throw Error("--mutation: {name} is a mistake; bisect compares with the decoder as it should be",
                    {{"name", scenario.mutation}});
    return gives_inputs(run) ? scenario : core::on_recorded_input(std::move(scenario), trace);
}

void run_bisect(const RunOptions& run, const BisectRequest& request, std::ostream& out) {
    const trace::Trace trace = trace::open_trace(request.against);
    const core::bisect::Bisection bisection =
        core::bisect::bisect(scenario_for(run, trace), trace, {.tolerance = request.tolerance});
    out << (request.json ? core::bisect::bisection_json(bisection) : core::bisect::bisection_text(bisection));
    if (!bisection.apart.empty())
        throw Judgement(Judged::different,
                        message("{path}: {how}", {{"path", request.against}, {"how", bisection.apart.front()}}));
    if (!bisection.first && !bisection.unfinished.empty())
        throw Judgement(Judged::refused, message("{path}: not whole: {why}",
                                                 {{"path", request.against}, {"why", bisection.unfinished}}));
    if (!bisection.first && !bisection.not_compared.empty())
        throw Judgement(Judged::in_part,
                        message("{path}: what was compared agrees; {sentence}",
                                {{"path", request.against}, {"sentence", bisection.not_compared.front()}}));
    if (!bisection.first) return;
    const core::bisect::TensorCheck& first = bisection.checks[*bisection.first];
    throw Judgement(Judged::different,
                    message("{path}: {theirs} differs from {ours}; expected them to agree",
                            {{"path", request.against}, {"theirs", first.theirs}, {"ours", first.ours}}));
}

}  // namespace

void add_bisect(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<BisectRequest>();
    CLI::App& command = add_running(
        app, context, "bisect", "Find the first tensor that differs from a trace recorded elsewhere, and the cause");
    judge(command, context);
    command.add_option("--against", request->against, kTraces)->required();
    command
        .add_option("--tolerance", request->tolerance,
                    "how far numbers may differ, relative to a tensor's largest magnitude (without it, as far as "
                    "rounding may take them)")
        ->transform(within(bounds::kTolerance));
    command.add_flag("--json", request->json,
                     "print JSON: verdict, first, theirs, line, largest, cell, agreed_before, compared, recorded, "
                     "unmatched, causes");
    command.callback(
        [context, request] { context.work = [context, request] { run_bisect(context.run, *request, context.out); }; });
}

}  // namespace decoderscope::cli
